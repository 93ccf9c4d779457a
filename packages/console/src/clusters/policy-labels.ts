import type { Cluster, ClusterWideChart } from "@binnacle/client";
import { isGivenUp } from "../status/status.ts";

export const POD_SECURITY = [
  { value: "restricted", label: "Restricted: current hardening practice" },
  { value: "baseline", label: "Baseline: no known privilege escalations" },
  { value: "privileged", label: "Privileged: unrestricted" },
] as const;

/** Charts as lines of a text, one in each: the repository, a space, the name. */
export const chartLines = (charts: readonly ClusterWideChart[]): readonly string[] =>
  charts.map(({ repo, name }) => `${repo} ${name}`);

/** The charts that a text names. A line without a name is sent with an empty one, so that the API says what is wrong with it. */
export const chartsOf = (lines: string): ClusterWideChart[] =>
  lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [repo = "", ...name] = line.split(/\s+/);
      return { repo, name: name.join(" ") };
    });

export interface DangerousActions {
  readonly canScale: boolean;
  /** Why not, in words; null where it can be done. */
  readonly abandonRefusal: string | null;
  /** The same of letting it go. */
  readonly detachRefusal: string | null;
  readonly deleteConsequences: readonly string[];
}

/** What may be done to a cluster that cannot be undone, by its state. The API decides again. */
export function dangerousActions({ provider, status }: Pick<Cluster, "provider" | "status">): DangerousActions {
  const isOwn = provider === null;
  return {
    canScale: !isOwn && !["provisioning", "abandoned", "detaching", "destroying", "error"].includes(status),
    abandonRefusal:
      status === "connected"
        ? "Its operator is connected, so its projects can be deleted properly. Abandoning is for clusters that never come back."
        : null,
    detachRefusal:
      status === "connected"
        ? null
        : "Only its operator can let go of what it manages, and is not connected. Abandon the cluster if it never comes back.",
    deleteConsequences: isOwn
      ? [
          ...(isGivenUp(status)
            ? [
                "Its projects, apps and addons end with it, although nobody has confirmed that they are gone from the cluster.",
                "An operator that returns is refused, and what it runs stays.",
              ]
            : []),
          "The cluster is taken out of Binnacle at once, with its roles, its registry secrets and its templates of scope cluster.",
          "The operator on it is not uninstalled; run helm uninstall binnacle-operator -n binnacle-system there.",
        ]
      : [
          "Its machines, disks and networks at the provider are destroyed, with all data on them.",
          "It reads as destroying until that is done; the job can be followed.",
          "Its roles, its registry secrets and its templates of scope cluster go with it.",
        ],
  };
}
