import { componentNames } from "../app/names.ts";
import type { PodMaker } from "../helm/release-pods.ts";

/** Metrics of containers know neither labels nor owners of pods, so that only names tell whose they are. */

/** Beyond this length Kubernetes cuts what it puts between a workload's name and the end of its pods' names. */
const LONGEST_UNCUT = 46;

const HASH = "[a-z0-9]{5}";

const escaped = (name: string): string => name.replace(/[^a-z0-9-]/g, "\\$&");

/** What Kubernetes appends to the name of a component's workload is an ordinal, or two words without a hyphen. */
export function podPattern(app: string, component: string): string {
  const { base, suffixable } = componentNames(app, component);
  const names = [...new Set([base, suffixable])].map(escaped).join("|");
  const cut = base.length > LONGEST_UNCUT ? "|[a-z0-9]+" : "";
  return `(${names})-([0-9]+|[a-z0-9]+-${HASH}${cut})`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  Pod: "",
  StatefulSet: "-[0-9]+",
  Deployment: `-[a-z0-9]+-${HASH}`,
  DaemonSet: `-${HASH}`,
  ReplicaSet: `-${HASH}`,
  Job: `-${HASH}`,
  CronJob: `-[0-9]+-${HASH}`,
};
const ANY_ENDING = `-([0-9]+|([a-z0-9]+-)?${HASH})`;
/** These have the name itself, however long it is. */
const NEVER_CUT = new Set(["Pod", "StatefulSet"]);

/** Null where nothing is known that makes pods. */
export function releasePodPattern(makers: readonly PodMaker[]): string | null {
  const patterns = makers.map(({ kind, name }) =>
    name.length > LONGEST_UNCUT && !NEVER_CUT.has(kind)
      ? `${escaped(name.slice(0, LONGEST_UNCUT))}[a-z0-9.-]*`
      : `${escaped(name)}${ENDINGS[kind] ?? ANY_ENDING}`,
  );
  return patterns.length > 0 ? [...new Set(patterns)].sort().join("|") : null;
}
