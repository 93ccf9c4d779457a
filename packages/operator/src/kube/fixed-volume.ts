import { parseQuantity, safeText } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, textIn, textsIn, titleOf } from "./object-fields.ts";
import type { Refusal } from "./refusal.ts";

/** The size that a claim, or a template of one, asks for. */
export const requestedStorage = ({ spec }: Fields): string =>
  textIn(fieldsIn(fieldsIn(fieldsIn(spec)["resources"])["requests"])["storage"]);

/** What a volume keeps from when it was made. */
interface Fixed {
  readonly storageClass: string;
  readonly accessMode: string;
}

const fixedIn = ({ spec }: Fields): Fixed => ({
  storageClass: textIn(fieldsIn(spec)["storageClassName"]),
  accessMode: textsIn(fieldsIn(spec)["accessModes"]).join(","),
});

const isSame = (one: Fixed, other: Fixed): boolean =>
  one.storageClass === other.storageClass && one.accessMode === other.accessMode;

const nameOf = (template: Fields): string => textIn(fieldsIn(template["metadata"])["name"]);

/**
 * Why the API server does not change the storage class or the access mode of a claim, or of a template of a StatefulSet's claims,
 * in words of the app. Null where it is another field that cannot be changed.
 */
export function fixedVolume(live: KubeObject, desired: KubeObject): Refusal | null {
  if (desired.kind === "PersistentVolumeClaim") {
    const isSmaller = (parseQuantity(requestedStorage(desired)) ?? 0) < (parseQuantity(requestedStorage(live)) ?? 0);
    return isSmaller || isSame(fixedIn(live), fixedIn(desired)) ? null : refusal(titleOf(live), fixedIn(live));
  }
  if (desired.kind !== "StatefulSet") return null;
  const templates = listIn(specOf(desired)["volumeClaimTemplates"]);
  for (const before of listIn(specOf(live)["volumeClaimTemplates"])) {
    const after = templates.find((template) => nameOf(template) === nameOf(before));
    if (after && !isSame(fixedIn(before), fixedIn(after))) {
      return refusal(`The volume ${nameOf(before)} of ${titleOf(live)}`, fixedIn(before));
    }
  }
  return null;
}

function refusal(title: string, { storageClass, accessMode }: Fixed): Refusal {
  const kept = `${title} was made with ${storageClass === "" ? "no storage class by name" : `the storage class ${storageClass}`} and the access mode ${accessMode}, which cannot be changed.`;
  const remedy = "Set storage_class and access_mode back, or give the volume another name: a new one is empty.";
  return { refused: "immutable", reason: "ImmutableVolume", message: safeText(`${kept} ${remedy}`) };
}
