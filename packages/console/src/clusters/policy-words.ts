import type { Cluster, ClusterWideChart, Quota } from "@binnacle/client";

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

export const QUOTA_FIELDS: readonly { readonly key: keyof Quota; readonly label: string; readonly example: string }[] =
  [
    { key: "requests_cpu", label: "CPU requests", example: "4" },
    { key: "requests_memory", label: "Memory requests", example: "8Gi" },
    { key: "limits_cpu", label: "CPU limits", example: "8" },
    { key: "limits_memory", label: "Memory limits", example: "16Gi" },
    { key: "pods", label: "Pods", example: "50" },
    { key: "storage_gb", label: "Storage in GB", example: "100" },
    { key: "default_request_cpu", label: "Default CPU request", example: "100m" },
    { key: "default_request_memory", label: "Default memory request", example: "128Mi" },
    { key: "default_limit_cpu", label: "Default CPU limit", example: "500m" },
    { key: "default_limit_memory", label: "Default memory limit", example: "512Mi" },
  ];

/** The fields of a quota's form; what is not capped is empty. */
export const quotaForm = (quota: Quota | null): Readonly<Record<string, string>> =>
  Object.fromEntries(QUOTA_FIELDS.map(({ key }) => [key, quota?.[key] === undefined ? "" : String(quota[key])]));

const COUNTS: readonly string[] = ["pods", "storage_gb"];

/** The quota that a form asks for; null, which removes it, where every field is empty. */
export function quotaOf(form: Readonly<Record<string, string>>): Quota | null {
  const given = QUOTA_FIELDS.flatMap(({ key }) => {
    const text = (form[key] ?? "").trim();
    if (text === "") return [];
    // What is no number is sent as it was typed, so that the API says so at the field.
    return [[key, COUNTS.includes(key) && /^\d+$/.test(text) ? Number(text) : text]];
  });
  return given.length === 0 ? null : (Object.fromEntries(given) as Quota);
}

export interface DangerousActions {
  readonly canScale: boolean;
  /** Why not, in words; null where it can be done. */
  readonly abandonRefusal: string | null;
  readonly deleteConsequences: readonly string[];
}

/** What may be done to a cluster that cannot be undone, by its state. The API decides again. */
export function dangerousActions({ provider, status }: Pick<Cluster, "provider" | "status">): DangerousActions {
  const isOwn = provider === null;
  return {
    canScale: !isOwn && !["provisioning", "destroying", "error"].includes(status),
    abandonRefusal:
      status === "connected"
        ? "Its operator is connected, so its projects can be deleted properly. Abandoning is for clusters that never come back."
        : null,
    deleteConsequences: isOwn
      ? [
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
