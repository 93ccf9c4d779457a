import { safeText } from "@binnacle/contract";
import { covers, isWildcard } from "./route-hosts.ts";

/** Decides which namespace a host belongs to. Whoever had it first keeps it. */

/** A namespace that asks for a host. */
export interface Demand {
  readonly namespace: string;
  readonly host: string;
  /** The control plane has given the host to an app of the project: it keeps the projects' apps apart itself. */
  readonly isGranted: boolean;
  /** Of the oldest route with the host; null while there is none. */
  readonly createdAt: string | null;
  /** Whether it is the namespace of a project of ours. Others are the cluster's own, and nothing is taken from them. */
  readonly isOfProject: boolean;
}

/** Since when a namespace has had a host, by namespace and host. */
export type HostRecords = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface Decision {
  /** By them others are refused. */
  readonly held: readonly Demand[];
  /** Somebody else had the host, or one that it overlaps with, before. */
  readonly taken: readonly Demand[];
}

/**
 * Hosts that charts and their pods may hold in a namespace. One beyond is served as long as nobody else wants it, so that
 * nobody can occupy the names of the whole cluster.
 */
export const MOST_HOSTS = 1_000;

/** A demand on record was decided before and stays, also beside another one: both were there when the record began. */
export function decideHosts(demands: readonly Demand[], records: HostRecords): Decision {
  const claims = createClaims();
  const held: Demand[] = [];
  const taken: Demand[] = [];
  const counts = new Map<string, number>();
  const isRecorded = ({ namespace, host }: Demand) => records.get(namespace)?.has(host) ?? false;
  const hold = (demand: Demand) => {
    held.push(demand);
    claims.add(demand);
  };
  const [recorded, fresh] = parted(demands, isRecorded);
  for (const demand of recorded) {
    count(counts, demand);
    hold(demand);
  }
  for (const demand of fresh.toSorted(byPrecedence)) {
    if (!demand.isOfProject) hold(demand);
    else if (claims.isTaken(demand)) taken.push(demand);
    else if (demand.isGranted || count(counts, demand) <= MOST_HOSTS) hold(demand);
  }
  return { held, taken };
}

function count(counts: Map<string, number>, { namespace, isGranted }: Demand): number {
  const next = (counts.get(namespace) ?? 0) + (isGranted ? 0 : 1);
  counts.set(namespace, next);
  return next;
}

function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** Among those of which it is not known who was first. A host that nobody serves yet comes last. */
function byPrecedence(one: Demand, other: Demand): number {
  const keyOf = ({ isOfProject, isGranted, createdAt, namespace, host }: Demand) => {
    const rank = !isOfProject ? 0 : createdAt === null ? 3 : isGranted ? 1 : 2;
    return `${rank} ${createdAt ?? ""} ${namespace} ${host}`;
  };
  const [left, right] = [keyOf(one), keyOf(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

type Claim = Pick<Demand, "namespace" | "host" | "isGranted">;

/** The hosts that are held, by name and by the wildcards above them. */
export function createClaims(held: readonly Claim[] = []) {
  const exact = new Map<string, Claim[]>();
  const below = new Map<string, Claim[]>();

  const put = (index: Map<string, Claim[]>, name: string, claim: Claim) => {
    const found = index.get(name);
    if (found) found.push(claim);
    else index.set(name, [claim]);
  };
  function add(claim: Claim): void {
    put(exact, claim.host, claim);
    for (const wildcard of wildcardsAbove(claim.host)) put(below, wildcard, claim);
  }
  for (const claim of held) add(claim);

  return {
    add,
    /**
     * The same name, a name under the wanted wildcard, or a wildcard above it that the control plane has given. A wildcard of
     * a chart takes no names below it, which would be the whole domain.
     */
    isTaken({ namespace, host, isGranted }: Claim): boolean {
      const isOther = (claim: Claim) => claim.namespace !== namespace && !(claim.isGranted && isGranted);
      return (
        (exact.get(host) ?? []).some(isOther) ||
        (below.get(host) ?? []).some(isOther) ||
        wildcardsAbove(host).some((name) => (exact.get(name) ?? []).some((claim) => claim.isGranted && isOther(claim)))
      );
    },
  };
}
export type Claims = ReturnType<typeof createClaims>;

function wildcardsAbove(host: string): string[] {
  const labels = (isWildcard(host) ? host.slice(2) : host).split(".");
  return labels.map((_, index) => `*.${labels.slice(index).join(".")}`).filter((name) => covers(name, host));
}

/** The reason of an app or a release that asks for a host of another namespace. */
export const HOST_TAKEN = "HostTaken";

const MOST_NAMED = 3;
const named = (hosts: readonly string[]): string => hosts.slice(0, MOST_NAMED).join(", ");

export const takenSentence = (who: string, hosts: readonly string[]): string =>
  safeText(
    `${who} asks for the host ${named(hosts)}, which another namespace of the cluster uses. Choose another host.`,
  );

export const removalSentence = (kind: string, name: string, hosts: readonly string[]): string =>
  safeText(
    `The ${kind} ${name} was removed, because it asked for the host ${named(hosts)}, which another namespace of the cluster uses.`,
  );
