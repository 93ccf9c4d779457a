import type { DeletionPreview, VolumeOutlook } from "@binnacle/client";

const FATES: Readonly<Record<VolumeOutlook["fate"], string>> = {
  deleted: "is deleted with its data",
  released: "is released; the storage class keeps its data",
  kept: "stays",
  unknown: "may be deleted: the cluster has not said",
};

const MOST_NAMED = 8;

/** Each thing that a deletion takes with it, in words; data first, because it cannot be brought back. */
export function consequencesOf(preview: DeletionPreview): readonly string[] {
  const volumes = preview.volumes.map(
    ({ claim, size, fate }) => `The volume ${claim}${size ? ` (${size})` : ""} ${FATES[fate]}.`,
  );
  const components =
    preview.components.length > 0
      ? [
          `${plural(preview.components.length, "component")}: ${named(preview.components)}. What they serve stops at once.`,
        ]
      : [];
  const kinds = [...Map.groupBy(preview.objects, ({ kind }) => kind)].map(([kind, of]) => `${of.length} ${kind}`);
  const more = preview.truncated ? " and more" : "";
  const objects =
    kinds.length > 0
      ? [`${plural(preview.objects.length, "object")} in the cluster${more}: ${named(kinds.sort())}.`]
      : [];
  return [...volumes, ...components, ...objects];
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

function named(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
