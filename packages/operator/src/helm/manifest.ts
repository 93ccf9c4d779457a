import { gunzipSync } from "node:zlib";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";
import { documentsIn, objectsIn } from "./manifest-reader.ts";
import { type PodMaker, podMakerOf } from "./release-pods.ts";

/** An object that a release is made of. */
export interface ReleaseObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** That of the release, where none is given. */
  readonly namespace?: string;
  /** The object stays when the release is uninstalled, because the chart says so. */
  readonly isKept: boolean;
  /** As the chart has rendered it. */
  readonly manifest: KubeObject;
}

export interface ReleaseContent {
  readonly objects: readonly ReleaseObject[];
  /** Those of the release's namespace, among them what runs before and after as hooks. */
  readonly podMakers: readonly PodMaker[];
  /** All objects were made, and a hook after them failed. */
  readonly isHookFailure: boolean;
  /** The length of the manifest, by which memory is bounded. */
  readonly size: number;
}

export const NO_CONTENT: ReleaseContent = { objects: [], podMakers: [], isHookFailure: false, size: 0 };

const LONGEST_MANIFEST_BYTES = 64 * 1024 * 1024;

/** A revision as Helm stores it in its Secret. */
interface StoredRelease {
  readonly manifest: string;
  readonly hooks: readonly string[];
  /** How Helm's last work on it ended, in its words. */
  readonly description: string;
}

function storedIn(secret: KubeObject): StoredRelease | null {
  try {
    const text = textIn(fieldsIn(secret["data"])["release"]);
    const packed = Buffer.from(Buffer.from(text, "base64").toString("latin1"), "base64");
    const release: unknown = JSON.parse(gunzipSync(packed, { maxOutputLength: LONGEST_MANIFEST_BYTES }).toString());
    const { manifest, hooks, info } = fieldsIn(release);
    return {
      manifest: textIn(manifest),
      hooks: listIn(hooks).map((hook) => textIn(hook["manifest"])),
      description: textIn(fieldsIn(info)["description"]),
    };
  } catch {
    return null;
  }
}

/** Helm's words for a hook that runs when all objects are there. */
const AFTER_ALL_OBJECTS = /failed post-install/;

/** Reads the objects of a revision; none where its Secret cannot be read. */
export function contentIn(secret: KubeObject): ReleaseContent {
  const stored = storedIn(secret);
  if (!stored) return NO_CONTENT;
  const { manifest, hooks, description } = stored;
  const content = contentOf(manifest, hooks, secret.metadata.namespace);
  return { ...content, isHookFailure: AFTER_ALL_OBJECTS.test(description) };
}

/** The text of all objects that a rollback to the revision makes, with its hooks; null where it cannot be read. */
export function manifestIn(secret: KubeObject): string | null {
  const stored = storedIn(secret);
  return stored && [stored.manifest, ...stored.hooks].join("\n---\n");
}

export function contentOf(manifest: string, hooks: readonly string[] = [], here = ""): ReleaseContent {
  const objects = readableObjects(manifest);
  const makers = [...objects, ...hooks.flatMap(readableObjects)].filter(
    ({ metadata: { namespace = here } }) => namespace === here,
  );
  return {
    objects: objects.map(referenceTo),
    podMakers: makers.flatMap(podMakerOf),
    isHookFailure: false,
    size: manifest.length,
  };
}

function readableObjects(manifest: string): KubeObject[] {
  return readable(() => documentsIn(manifest)).flatMap((document) =>
    readable(() => objectsIn(document)).flatMap(objectOf),
  );
}

/** A release that was made before such documents were refused is shown without what cannot be read. */
function readable<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function objectOf(fields: Fields): KubeObject[] {
  const { apiVersion, kind, metadata } = fields;
  const { name, namespace, annotations, ...rest } = fieldsIn(metadata);
  if (textIn(apiVersion) === "" || textIn(kind) === "" || textIn(name) === "") return [];
  return [
    {
      ...fields,
      apiVersion: textIn(apiVersion),
      kind: textIn(kind),
      metadata: {
        ...rest,
        name: textIn(name),
        ...(textIn(namespace) === "" ? {} : { namespace: textIn(namespace) }),
        annotations: fieldsIn(annotations) as Record<string, string>,
      },
    },
  ];
}

function referenceTo(manifest: KubeObject): ReleaseObject {
  const { apiVersion, kind, metadata } = manifest;
  const { name, namespace, annotations } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    isKept: annotations?.["helm.sh/resource-policy"] === "keep",
    manifest,
  };
}
