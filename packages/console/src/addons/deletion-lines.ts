import type { DeletionPreview } from "@binnacle/client";

const FATE: Readonly<Record<DeletionPreview["volumes"][number]["fate"], string>> = {
  deleted: "is deleted with its data",
  released: "is released: the storage keeps the data, and the claim goes",
  kept: "is kept",
  unknown: "has an unknown fate",
};

const MOST_OBJECTS = 12;

/** What a deletion takes, one sentence for each thing: volumes first, because their data cannot be brought back. */
export function deletionLines(
  preview: Pick<DeletionPreview, "volumes" | "objects" | "truncated" | "apps" | "addon_instances">,
): readonly string[] {
  const volumes = preview.volumes.map(
    ({ claim, size, fate, recovery }) => `Volume ${claim}${size ? ` (${size})` : ""} ${FATE[fate]}. ${recovery}`,
  );
  const objects = preview.objects.slice(0, MOST_OBJECTS).map(({ kind, name }) => `${kind} ${name} goes.`);
  const rest = preview.objects.length - objects.length;
  return [
    ...volumes.map((line) => line.trim()),
    ...preview.apps.map(({ name }) => `App ${name} goes.`),
    ...objects,
    ...(rest > 0 || preview.truncated
      ? [rest > 0 ? `${rest} more objects go.` : "More objects go than are listed."]
      : []),
  ];
}
