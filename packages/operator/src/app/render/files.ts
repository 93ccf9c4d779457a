import { createHash } from "node:crypto";
import type { KubeObject } from "../../kube/kube-client.ts";
import { fieldsOf, objectOf, type WorkloadContext } from "./component-context.ts";
import type { Workload } from "./rendering.ts";

const FILES_VOLUME = "binnacle-files";
const KEY_LENGTH = 32;

/** Keys of a ConfigMap hold no slashes. */
const keyOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, KEY_LENGTH);

/** The contents of the files by their keys, without those that are secret. */
export const contentsOf = ({ files = [] }: Workload): Readonly<Record<string, string>> =>
  Object.fromEntries(files.flatMap(({ path, content }) => (content === undefined ? [] : [[keyOf(path), content]])));

export function fileObjects(context: WorkloadContext): KubeObject[] {
  const data = fieldsOf(contentsOf(context.spec));
  return data ? [objectOf(context, "v1", "ConfigMap", context.names.files, { data })] : [];
}

/** One volume for all files. A secret that is not set keeps the pod from starting instead of becoming an empty folder. */
export function fileVolumes({ spec: { files = [] }, names }: WorkloadContext) {
  const items = (isSecret: boolean) =>
    files.flatMap(({ path, secret }) =>
      (secret !== undefined) === isSecret ? [{ key: secret ?? keyOf(path), path: keyOf(path) }] : [],
    );
  const [plain, secret] = [items(false), items(true)];
  const sources = [
    ...(plain.length > 0 ? [{ configMap: { name: names.files, items: plain } }] : []),
    ...(secret.length > 0 ? [{ secret: { name: names.secrets, items: secret } }] : []),
  ];
  return sources.length > 0 ? [{ name: FILES_VOLUME, projected: { sources } }] : [];
}

/** Each file by itself, so that the folder around it stays that of the image. */
export const fileMounts = ({ files = [] }: Workload) =>
  files.map(({ path }) => ({ name: FILES_VOLUME, mountPath: path, subPath: keyOf(path), readOnly: true }));
