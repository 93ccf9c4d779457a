import type { DeletionPreview, Project, VolumeOutlook } from "@binnacle/client";

export interface LifecycleText {
  /** What is happening. */
  readonly what: string;
  /** Why, or null where there is nothing to explain. */
  readonly why: string | null;
  /** What people should do, or null where nothing needs to be done. */
  readonly todo: string | null;
  /** Where they do it. */
  readonly at: "cluster" | "policy" | "delete" | null;
}

type Lifecycle = Pick<Project, "lifecycle" | "lifecycle_reason" | "lifecycle_message" | "stale">;

const UNHEARD = "The operator of the cluster is not connected, or has not been heard of for more than a minute.";

/** The lifecycle of a project in words: what is happening, why, and what to do. */
export function lifecycleText({ lifecycle, lifecycle_reason, lifecycle_message, stale }: Lifecycle): LifecycleText {
  if (lifecycle === "cleanup_pending") {
    return lifecycle_reason === "cleanup_degraded"
      ? {
          what: "The project is being deleted, but its cluster does not confirm it.",
          why: lifecycle_message ?? UNHEARD,
          todo: "Connect the cluster again, and the cleanup goes on by itself. If the cluster never comes back, abandon it.",
          at: "cluster",
        }
      : {
          what: "The project is being deleted. Its record goes when the cluster confirms that the namespace is gone.",
          why: stale ? UNHEARD : lifecycle_message,
          todo: stale ? "Connect the cluster again, and the cleanup goes on by itself." : null,
          at: stale ? "cluster" : null,
        };
  }
  if (lifecycle === "cleanup_degraded" && lifecycle_reason === "cluster_detached") {
    return {
      what: "The cluster of the project is being detached. What runs in it stays.",
      why: null,
      todo: "This record ends when the operator has let go of it; the cluster says what that waits for.",
      at: "cluster",
    };
  }
  if (lifecycle === "cleanup_degraded") {
    return {
      what: "The project was given up with its cluster. Its record stays until somebody confirms that the namespace is gone.",
      why: lifecycle_message,
      todo: "If the operator of the cluster returns, it cleans up and the record ends. Deleting the cluster ends it now.",
      at: "cluster",
    };
  }
  if (lifecycle === "degraded") return degradedText(lifecycle_reason, lifecycle_message);
  if (lifecycle === "pending") {
    return {
      what: "The cluster has been asked to create the namespace and its policy.",
      why: stale ? UNHEARD : lifecycle_message,
      todo: stale ? "Connect the cluster; the project becomes ready by itself." : null,
      at: stale ? "cluster" : null,
    };
  }
  return stale
    ? {
        what: "The project was ready when its cluster was last heard of.",
        why: UNHEARD,
        todo: "Changes wait until the cluster is connected again.",
        at: "cluster",
      }
    : {
        what: "The namespace exists on the cluster and is as it should be.",
        why: lifecycle_message,
        todo: null,
        at: null,
      };
}

function degradedText(reason: Project["lifecycle_reason"], message: string | null): LifecycleText {
  switch (reason) {
    case "operator_unreachable":
      return {
        what: "The cluster has not confirmed the project.",
        why: message ?? UNHEARD,
        todo: "Connect the cluster; the project becomes ready by itself.",
        at: "cluster",
      };
    case "namespace_conflict":
      return {
        what: "The cluster has a namespace of this name already, and it belongs to somebody else. It is not touched.",
        why: message,
        todo: "Delete this project and create one with another name, or remove the namespace from the cluster if nobody needs it.",
        at: "delete",
      };
    case "apply_failed":
      return {
        what: "The cluster refuses the namespace or its policy.",
        why: message,
        todo: "Correct what the message names, in the policy or on the cluster; it is tried again by itself.",
        at: "policy",
      };
    case "cleanup_degraded":
    case "cluster_abandoned":
    case "cluster_detached":
    case null:
      return { what: "The project is not as it should be.", why: message, todo: null, at: null };
  }
}

const FATES: readonly (readonly [VolumeOutlook["fate"], string])[] = [
  ["deleted", "Lost for ever"],
  ["released", "Claim removed, data kept by the storage class"],
  ["kept", "Kept"],
  ["unknown", "Not known what becomes of it"],
];

/** At most so many names are listed; the rest is counted. */
const NAMED = 12;

function named(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return rest > 0 ? `${names.slice(0, NAMED).join(", ")} and ${rest} more` : names.join(", ");
}

const counted = (count: number, one: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString("en")} ${one}s`;

/** What goes with a project, as lines; data that is lost comes first. */
export function deletionLines(preview: DeletionPreview): readonly string[] {
  const { apps, addon_instances, volumes, objects } = preview;
  const ofVolumes = FATES.flatMap(([fate, words]) => {
    const claims = volumes.filter((volume) => volume.fate === fate);
    const names = claims.map(({ claim, size }) => (size === null ? claim : `${claim} (${size})`));
    return claims.length === 0 ? [] : [`${words}: ${counted(claims.length, "volume")}: ${named(names)}.`];
  });
  return [
    ...ofVolumes,
    apps.length === 0 ? "No app is in it." : `${counted(apps.length, "app")}: ${named(apps.map(({ name }) => name))}.`,
    ...(addon_instances.length === 0
      ? []
      : [`${counted(addon_instances.length, "addon instance")}: ${named(addon_instances.map(({ name }) => name))}.`]),
    ...objects
      .filter(({ kind }) => kind === "Namespace")
      .map(({ name }) => `The namespace ${name} with everything in it, whoever has created it.`),
    ...(preview.volumes_known
      ? []
      : [preview.message ?? "The cluster did not answer; there may be more volumes than these."]),
    ...(preview.truncated ? ["There is more than is listed here."] : []),
  ];
}
