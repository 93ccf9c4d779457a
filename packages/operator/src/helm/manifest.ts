import { gunzipSync } from "node:zlib";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, textIn } from "../kube/object-fields.ts";

/** An object that a release is made of. */
export interface ReleaseObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** That of the release, where none is given. */
  readonly namespace?: string;
  /** It stays when the release goes, because the chart says so. */
  readonly isKept: boolean;
}

const LONGEST_MANIFEST_BYTES = 64 * 1024 * 1024;

/** What a revision is made of, from the Secret in which Helm keeps it. Empty where it cannot be read. */
export function objectsIn(secret: KubeObject): readonly ReleaseObject[] {
  const content = textIn(fieldsIn(secret["data"])["release"]);
  try {
    const packed = Buffer.from(Buffer.from(content, "base64").toString("latin1"), "base64");
    const release: unknown = JSON.parse(gunzipSync(packed, { maxOutputLength: LONGEST_MANIFEST_BYTES }).toString());
    return objectsOf(textIn(fieldsIn(release)["manifest"]));
  } catch {
    return [];
  }
}

export function objectsOf(manifest: string): readonly ReleaseObject[] {
  const documents = [parseAllDocuments(manifest, { logLevel: "silent" })].flat();
  return documents.flatMap((document) => {
    const object = "toJS" in document ? fieldsIn(document.toJS()) : {};
    return [object, ...(textIn(object["kind"]) === "List" ? [object["items"]].flat() : [])].flatMap(referenceTo);
  });
}

function referenceTo(object: unknown): ReleaseObject[] {
  const { apiVersion, kind, metadata } = fieldsIn(object);
  const { name, namespace, annotations } = fieldsIn(metadata);
  if (textIn(apiVersion) === "" || textIn(kind) === "" || textIn(name) === "") return [];
  return [
    {
      apiVersion: textIn(apiVersion),
      kind: textIn(kind),
      name: textIn(name),
      ...(textIn(namespace) === "" ? {} : { namespace: textIn(namespace) }),
      isKept: fieldsIn(annotations)["helm.sh/resource-policy"] === "keep",
    },
  ];
}
