import type { ComponentSpec } from "@binnacle/contract";
import { codedConflict, forbidden } from "../fault.ts";

/**
 * Returns the hosts of an app's workloads. A host has one spelling: the contract accepts only lower-case ASCII without
 * a trailing dot.
 */
export function hostsOf(components: readonly ComponentSpec[]): string[] {
  return [...new Set(components.flatMap(({ workload_spec }) => workload_spec?.ingress?.host ?? []))];
}

/** Returns the hosts that an operation adds to an app. */
export function addedHosts(before: readonly ComponentSpec[], after: readonly ComponentSpec[]): string[] {
  const had = new Set(hostsOf(before));
  return hostsOf(after).filter((host) => !had.has(host));
}

export const isWildcard = (host: string): boolean => host.startsWith("*.");

/** A wildcard takes a whole domain and so affects every project of the cluster. Throws the 403. */
export function refuseWildcards(added: readonly string[], isOrgAdmin: boolean): void {
  const wildcard = isOrgAdmin ? undefined : added.find(isWildcard);
  if (wildcard === undefined) return;
  throw forbidden(`The host ${wildcard} is a wildcard, which only an administrator of the organization may add.`);
}

/**
 * Returns every name that matches the host: the host itself and the wildcards above it. Ingress controllers differ in
 * how many labels a wildcard matches, so it matches any number here.
 */
export function matchingNames(host: string): string[] {
  const [, ...above] = host.split(".");
  return [...new Set([host, ...above.map((_, index) => `*.${above.slice(index).join(".")}`)])];
}

/** The message does not name the other project, because the caller may not see it. */
export const hostTaken = (host: string) =>
  codedConflict("host_taken", `The host ${host} is used by another project on this cluster.`, { host });
