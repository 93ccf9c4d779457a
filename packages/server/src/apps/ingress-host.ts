import { type ComponentSpec, ingressAddress } from "@binnacle/contract";
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

type Ingress = NonNullable<NonNullable<ComponentSpec["workload_spec"]>["ingress"]>;

/** Returns the ingresses that an operation adds to an app, or moves to another path. */
export function addedIngresses(before: readonly ComponentSpec[], after: readonly ComponentSpec[]): Ingress[] {
  const ingressesOf = (components: readonly ComponentSpec[]) =>
    components.flatMap(({ workload_spec }) => workload_spec?.ingress ?? []);
  const had = new Set(ingressesOf(before).map(ingressAddress));
  return ingressesOf(after).filter((ingress) => !had.has(ingressAddress(ingress)));
}

/** An address that another app of the same project serves. */
export interface ServedAddress {
  readonly app: string;
  readonly host: string;
  readonly path: string | null;
}

/** Two apps with one address would answer by turns. Throws the 409. */
export function refuseServedAddresses(added: readonly Ingress[], served: readonly ServedAddress[]): void {
  const wanted = new Set(added.map(ingressAddress));
  for (const { app, host, path } of served) {
    const address = ingressAddress({ host, ...(path === null ? {} : { path }) });
    if (!wanted.has(address)) continue;
    const message = `The app ${app} of this project answers at ${address} already. Choose another path or host, or change that app first.`;
    throw codedConflict("host_taken", message, { host, app });
  }
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
