import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  ANNOTATIONS,
  API_GROUP,
  API_VERSION,
  canonicalJson,
  type DesiredBodies,
  type DesiredKind,
  FINALIZER,
  type HubFrames,
  type InventoryEntry,
  LABELS,
  LINK_LIMITS,
} from "@binnacle/contract";
import type { KubeObject, ObjectMeta } from "../kube/kube-client.ts";
import { DESIRED_SECRET_TYPE, SECRETS } from "../kube/resource-types.ts";
import type { StoredResource } from "./desired-state.ts";
import { isDeleting, ownLabels } from "./ownership.ts";
import { type Address, isAt, keyAt } from "./stored-kind.ts";

/** Names the entry of the companion that belongs to this very content: the two objects cannot be written at once. */
const SECRET_KEY = `${API_GROUP}/secret-key`;

type Apply = HubFrames["apply"];

export const hashOf = (body: DesiredBodies[DesiredKind]): string =>
  createHash("sha256").update(canonicalJson(body)).digest("hex");

const projectIdIn = ({ resource_id, body: { spec } }: Apply): string =>
  "project_id" in spec ? spec.project_id : resource_id;

function metadataOf(frame: Apply, { kind, namespace, name }: Address, clusterId: string): ObjectMeta {
  return {
    name,
    ...(kind.holder.namespaced ? { namespace } : {}),
    labels: { ...ownLabels(clusterId), [LABELS.project]: projectIdIn(frame) },
    annotations: {
      [ANNOTATIONS.resourceId]: frame.resource_id,
      [ANNOTATIONS.generation]: String(frame.generation),
      [ANNOTATIONS.hash]: frame.hash,
    },
    finalizers: [FINALIZER],
  };
}

/**
 * The object that holds the spec of a frame. The secret part is in the companion, except where the holder is itself a
 * Secret.
 */
export function holderOf(frame: Apply, address: Address, clusterId: string, secretKey: string | null): KubeObject {
  const metadata = metadataOf(frame, address, clusterId);
  const { holder } = address.kind;
  if (holder === SECRETS) {
    const data = { spec: encoded(frame.body.spec), secret: encoded(frame.body.secret) };
    return { apiVersion: "v1", kind: "Secret", type: DESIRED_SECRET_TYPE, metadata, data };
  }
  return {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind: holder.kind,
    metadata: secretKey ? { ...metadata, annotations: { ...metadata.annotations, [SECRET_KEY]: secretKey } } : metadata,
    spec: frame.body.spec,
  };
}

/** The Secret beside a custom resource, with its contents by their keys. It goes with its owner. */
export function companionOf(
  name: string,
  frame: Apply,
  clusterId: string,
  contents: Readonly<Record<string, string>>,
  owner: KubeObject | null,
): KubeObject {
  const { apiVersion, kind, metadata } = owner ?? {};
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: DESIRED_SECRET_TYPE,
    metadata: {
      name,
      namespace: frame.body.spec.namespace,
      labels: { ...ownLabels(clusterId), [LABELS.project]: projectIdIn(frame) },
      ...(apiVersion && kind && metadata?.uid
        ? { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] }
        : {}),
    },
    data: contents,
  };
}

/** All values of a Secret together, without their base64. */
export const LARGEST_SECRET_BYTES = 1_048_576;
/** From here on a content is compressed: a Secret holds a mebibyte, and while a resource changes both its contents. */
const COMPRESSED_FROM_BYTES = 128 * 1024;
/** No frame brings more. Charts of a project can write such a Secret, and a small one may unpack without an end. */
const LARGEST_CONTENT_BYTES = 2 * LINK_LIMITS.frameBytes;
const GZIP = [0x1f, 0x8b];

export function encoded(content: unknown): string {
  const bytes = Buffer.from(canonicalJson(content));
  return (bytes.length < COMPRESSED_FROM_BYTES ? bytes : gzipSync(bytes)).toString("base64");
}

/** Which entry of its companion a custom resource reads. */
export const secretKeyOf = ({ metadata: { annotations } }: KubeObject): string | null =>
  annotations?.[SECRET_KEY] ?? null;

export const contentsOf = (secret: KubeObject | null): Readonly<Record<string, string>> =>
  (secret?.["data"] as Record<string, string> | undefined) ?? {};

/** The version of the resource as the annotations name it, which `storedIn` checks; null where somebody has removed them. */
export function versionIn({ metadata: { annotations = {} } }: KubeObject): Omit<InventoryEntry, "key"> | null {
  const { [ANNOTATIONS.resourceId]: resource_id, [ANNOTATIONS.hash]: hash } = annotations;
  const generation = Number(annotations[ANNOTATIONS.generation] ?? Number.NaN);
  if (!resource_id || !hash || !Number.isSafeInteger(generation)) return null;
  return { resource_id, generation, hash };
}

/**
 * The resource that an object and its companion hold. Null unless both together are what the hub has sent, so that nobody
 * acts on what somebody else has written there. A resource that is being deleted is taken as it is: only its names matter.
 */
export function storedIn<K extends DesiredKind>(
  address: Address<K>,
  holder: KubeObject,
  companion: KubeObject | null,
): StoredResource<K> | null {
  const version = versionIn(holder);
  if (!version) return null;
  const { kind, emptySecret } = address.kind;
  const leaving = isDeleting(holder);
  const { spec: found, secret } = bodyIn(address, holder, companion);
  // The charts of a project can write Secrets in its namespace, hash and all. Such a Secret may speak for that namespace alone.
  const spec = isSpec(found) && isAt(address, found) ? found : null;
  if (!leaving && (!spec || !secret)) return null;
  const body = { spec: spec ?? emptySpec(address), secret: secret ?? emptySecret } as DesiredBodies[K];
  if (!leaving && hashOf(body) !== version.hash) return null;
  return { key: keyAt(address), ...version, kind, ...body, isDeleting: leaving } as StoredResource<K>;
}

const isSpec = (value: unknown): value is DesiredBodies[DesiredKind]["spec"] =>
  typeof value === "object" && value !== null;

/** The spec of pull secrets whose Secret somebody has emptied. */
const emptySpec = ({ namespace }: Address) => ({ project_id: "", namespace, names: [] });

function bodyIn({ kind }: Address, holder: KubeObject, companion: KubeObject | null) {
  if (kind.holder === SECRETS) {
    const { spec, secret } = contentsOf(holder);
    return { spec: decoded(spec), secret: decoded(secret) };
  }
  if (kind.companionPrefix === null) return { spec: holder["spec"], secret: kind.emptySecret };
  return { spec: holder["spec"], secret: decoded(contentsOf(companion)[secretKeyOf(holder) ?? ""]) };
}

function decoded(content: string | undefined): unknown {
  if (content === undefined) return null;
  try {
    const bytes = Buffer.from(content, "base64");
    const isPacked = GZIP.every((byte, index) => bytes[index] === byte);
    const text = isPacked ? gunzipSync(bytes, { maxOutputLength: LARGEST_CONTENT_BYTES }) : bytes;
    return JSON.parse(text.toString("utf8"));
  } catch {
    return null;
  }
}
