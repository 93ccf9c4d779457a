import type { ComponentSpec } from "@binnacle/contract";
import { codedConflict, forbidden } from "../fault.ts";

/** The hosts of an app's workloads. A host has one spelling: the contract takes lower case, ASCII and no dot at the end. */
export function hostsOf(components: readonly ComponentSpec[]): string[] {
  return [...new Set(components.flatMap(({ workload_spec }) => workload_spec?.ingress?.host ?? []))];
}

/** The hosts that an operation adds to an app. */
export function addedHosts(before: readonly ComponentSpec[], after: readonly ComponentSpec[]): string[] {
  const had = new Set(hostsOf(before));
  return hostsOf(after).filter((host) => !had.has(host));
}

export const isWildcard = (host: string): boolean => host.startsWith("*.");

/** A wildcard takes a whole domain, which concerns every project of the cluster. Throws the 403. */
export function refuseWildcards(added: readonly string[], isOrgAdmin: boolean): void {
  const wildcard = isOrgAdmin ? undefined : added.find(isWildcard);
  if (wildcard === undefined) return;
  throw forbidden(`The host ${wildcard} is a wildcard, which only an administrator of the organization may add.`);
}

/**
 * Every name that answers for the host: its own, and those of the wildcards above it. Ingress controllers differ in how
 * many labels a wildcard stands for, so it stands for any number here.
 */
export function namesAnswering(host: string): string[] {
  const [, ...above] = host.split(".");
  return [...new Set([host, ...above.map((_, index) => `*.${above.slice(index).join(".")}`)])];
}

/** Says nothing about whose it is: the caller may not see that project. */
export const hostTaken = (host: string) =>
  codedConflict("host_taken", `The host ${host} is used by another project on this cluster.`, { host });
