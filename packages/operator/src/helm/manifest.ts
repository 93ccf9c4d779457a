import { gunzipSync } from "node:zlib";
import { load } from "js-yaml";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";
import { type PodMaker, podMakerOf } from "./release-pods.ts";

/** An object that a release is made of. */
export interface ReleaseObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** That of the release, where none is given. */
  readonly namespace?: string;
  /** It stays when the release goes, because the chart says so. */
  readonly isKept: boolean;
  /** As the chart has rendered it. */
  readonly manifest: KubeObject;
}

export interface ReleaseContent {
  readonly objects: readonly ReleaseObject[];
  /** Those of the release's namespace, among them what runs before and after as hooks. */
  readonly podMakers: readonly PodMaker[];
  /** The length of the manifest, by which memory is bounded. */
  readonly size: number;
}

export const NO_CONTENT: ReleaseContent = { objects: [], podMakers: [], size: 0 };

const LONGEST_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Reads the objects of a revision from the Secret in which Helm stores it; none where the Secret cannot be read. */
export function contentIn(secret: KubeObject): ReleaseContent {
  const content = textIn(fieldsIn(secret["data"])["release"]);
  try {
    const packed = Buffer.from(Buffer.from(content, "base64").toString("latin1"), "base64");
    const release: unknown = JSON.parse(gunzipSync(packed, { maxOutputLength: LONGEST_MANIFEST_BYTES }).toString());
    const { manifest, hooks } = fieldsIn(release);
    return contentOf(textIn(manifest), listIn(hooks).map(textOfHook), secret.metadata.namespace);
  } catch {
    return NO_CONTENT;
  }
}

const textOfHook = ({ manifest }: Fields): string => textIn(manifest);

export function contentOf(manifest: string, hooks: readonly string[] = [], here = ""): ReleaseContent {
  const objects = objectsIn(manifest);
  const makers = [...objects, ...hooks.flatMap(objectsIn)].filter(
    ({ metadata: { namespace = here } }) => namespace === here,
  );
  return { objects: objects.map(referenceTo), podMakers: makers.flatMap(podMakerOf), size: manifest.length };
}

function objectsIn(manifest: string): KubeObject[] {
  return documentsIn(manifest).flatMap((document) => [...fieldsOf(document)].flatMap(objectOf));
}

/** As Helm and Kubernetes part them. */
export const documentsIn = (manifest: string): string[] => manifest.split(/^---.*$/m);

/**
 * The objects of one document: one, or those of a list. Nothing where it cannot be read. The library takes time in
 * proportion to the length, also for texts that are made to take long, since charts come from anywhere.
 */
export function fieldsOf(document: string): readonly Fields[] {
  try {
    const object = fieldsIn(load(document));
    return Array.isArray(object["items"]) ? listIn(object["items"]) : [object];
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
