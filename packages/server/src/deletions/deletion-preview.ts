import {
  type DeletionPreview,
  OBSERVED_LIMITS,
  type ObservedAnswers,
  type ObservedVolume,
  type VolumeOutlook,
  type WorkloadSpec,
} from "@binnacle/contract";
import type { Fault } from "../fault.ts";

/** What the cluster says about a deletion, or why it says nothing. */
export type Outlook = ObservedAnswers["deletion"] | Fault;

const isAnswer = (outlook: Outlook): outlook is ObservedAnswers["deletion"] => "volumes" in outlook;

/** An app as far as its declared volumes go. */
export interface DeclaredVolumes {
  readonly name: string;
  readonly components: readonly { readonly name: string; readonly workload_spec?: DeclaredSpec }[];
}
type DeclaredSpec = Pick<WorkloadSpec, "kind" | "replicas" | "volumes">;

type OnRecord = Pick<DeletionPreview, "target"> &
  Partial<Pick<DeletionPreview, "apps" | "addon_instances" | "components" | "truncated">>;

const NOTHING = { apps: [], addon_instances: [], components: [], truncated: false };

/** `declared` are the volumes that are on record, for when the cluster does not answer. */
export function previewOf(onRecord: OnRecord, outlook: Outlook, declared: readonly ObservedVolume[]): DeletionPreview {
  const known = { ...NOTHING, ...onRecord };
  if (!isAnswer(outlook)) {
    const volumes = declared.slice(0, OBSERVED_LIMITS.volumes).map(withRecovery);
    const truncated = known.truncated || volumes.length < declared.length;
    return {
      ...known,
      objects: [],
      volumes,
      volumes_known: false,
      message: outlook.message,
      truncated,
      observed_at: null,
    };
  }
  const { objects, volumes, truncated, observed_at } = outlook;
  return {
    ...known,
    objects,
    volumes: volumes.map(withRecovery),
    volumes_known: true,
    message: null,
    truncated: known.truncated || truncated,
    observed_at,
  };
}

/** An addon that is detached loses nothing: the components only forget its exports. */
export const detachmentPreview = (
  { id, name }: { readonly id: string; readonly name: string },
  components: readonly string[],
): DeletionPreview => ({
  ...NOTHING,
  target: { type: "addon_attachment", id, name },
  components: [...components],
  objects: [],
  volumes: [],
  volumes_known: true,
  message: `The addon instance ${name} and its volumes stay. The components no longer get its exports.`,
  observed_at: null,
});

function withRecovery({ kept_by, ...volume }: ObservedVolume): VolumeOutlook {
  return { ...volume, recovery: recoveryOf({ kept_by, ...volume }) };
}

const BY_KEEPER = {
  app: "The claim stays until the app is deleted. A component of the same name with the same volume uses it again.",
  release:
    "The claim stays until the project is deleted. A release of the same name uses it again; give it the passwords that it had, since generated ones are new.",
  chart:
    "The chart keeps the claim until the project is deleted. A release of the same name cannot adopt it by itself.",
} as const;

/** How the data is had again, for people. */
function recoveryOf({ fate, kept_by, volume }: ObservedVolume): string {
  switch (fate) {
    case "deleted":
      return "Not at all: the storage class deletes the volume with its claim. Make a backup before.";
    case "released":
      return `The storage class keeps the data. An administrator of the cluster removes spec.claimRef of the PersistentVolume ${volume ?? "of the claim"} and makes a claim whose volumeName is that volume.`;
    case "kept":
      return kept_by === null ? "The claim stays." : BY_KEEPER[kept_by];
    case "unknown":
      return "The cluster has not reported what happens to the volume. Make a backup first.";
  }
}

/** The claims of workloads, by the names that the operator gives them. Those of charts and addons are not on record. */
export function declaredVolumes(
  { name: app, components }: DeclaredVolumes,
  fate: Pick<ObservedVolume, "fate" | "kept_by">,
): ObservedVolume[] {
  return components.flatMap(({ name: component, workload_spec: spec }) =>
    (spec?.volumes ?? []).flatMap(({ name, size_gb }) =>
      claimNames(`${app}-${component}`, name, spec).map((claim) => ({
        claim,
        component,
        size: `${size_gb}Gi`,
        storage_class: null,
        volume: null,
        reclaim_policy: null,
        ...fate,
      })),
    ),
  );
}

function claimNames(workload: string, volume: string, spec: DeclaredSpec | undefined): string[] {
  if (spec?.kind !== "statefulset") return [`${workload}-${volume}`];
  const replicas = Math.min(spec.replicas ?? 1, OBSERVED_LIMITS.volumes + 1);
  return Array.from({ length: replicas }, (_, ordinal) => `${volume}-${workload}-${ordinal}`);
}

export const UNKNOWN_FATE = { fate: "unknown", kept_by: null } as const;
/** The operator never deletes the volumes of a component while its app stays. */
export const KEPT_BY_APP = { fate: "kept", kept_by: "app" } as const;

/** For the audit log: which volumes were to be kept and which not when the deletion began. */
export function auditedVolumes(outlook: Outlook): Readonly<Record<string, unknown>> {
  if (!isAnswer(outlook)) return { volumes: "unknown" };
  const { volumes } = outlook;
  const fates = [...new Set(volumes.map(({ fate }) => fate))].sort();
  const named = fates.map((fate) => [
    fate,
    volumes
      .filter((one) => one.fate === fate)
      .map(({ claim, volume }) => (fate === "released" && volume ? `${claim} (${volume})` : claim)),
  ]);
  return named.length > 0 ? { volumes: Object.fromEntries(named) } : {};
}
