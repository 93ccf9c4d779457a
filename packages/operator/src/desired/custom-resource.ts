import { createHash } from "node:crypto";
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
} from "@binnacle/contract";
import type { KubeObject, ObjectMeta } from "../kube/kube-client.ts";
import { type Address, isAt, keyAt, REGISTRIES_NAME } from "./address.ts";
import type { StoredResource } from "./desired-store.ts";
import { isLeaving, ownLabels } from "./ownership.ts";
import { APPS, DESIRED_SECRET_TYPE, HOLDERS, PROJECTS } from "./resource-types.ts";

/** Names the entry of the companion that belongs to this very content: the two objects cannot be written at once. */
const SECRET_KEY = `${API_GROUP}/secret-key`;

type Apply = HubFrames["apply"];

const NO_SECRET: { readonly [K in DesiredKind]: DesiredBodies[K]["secret"] } = {
  project: {},
  app: { secrets: {}, values: {} },
  addon_instance: { values: {} },
  registry_secrets: { registries: [] },
};

export const hashOf = (body: DesiredBodies[DesiredKind]): string =>
  createHash("sha256").update(canonicalJson(body)).digest("hex");

const projectIdIn = (frame: Apply): string =>
  frame.kind === "project" ? frame.resource_id : frame.body.spec.project_id;

function metadataOf(frame: Apply, { namespace, name }: Address, clusterId: string): ObjectMeta {
  return {
    name,
    ...(HOLDERS[frame.kind].namespaced ? { namespace } : {}),
    labels: { ...ownLabels(clusterId), [LABELS.project]: projectIdIn(frame) },
    annotations: {
      [ANNOTATIONS.resourceId]: frame.resource_id,
      [ANNOTATIONS.generation]: String(frame.generation),
      [ANNOTATIONS.hash]: frame.hash,
    },
    finalizers: [FINALIZER],
  };
}

/** The object that holds what a frame tells. Its secrets are elsewhere, except where it is a Secret itself. */
export function holderOf(frame: Apply, address: Address, clusterId: string, secretKey: string | null): KubeObject {
  const metadata = metadataOf(frame, address, clusterId);
  if (frame.kind === "registry_secrets") {
    const data = { spec: encoded(frame.body.spec), secret: encoded(frame.body.secret) };
    return { apiVersion: "v1", kind: "Secret", type: DESIRED_SECRET_TYPE, metadata, data };
  }
  return {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind: HOLDERS[frame.kind].kind,
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

export const encoded = (content: unknown): string => Buffer.from(canonicalJson(content)).toString("base64");

/** Which entry of its companion a custom resource reads. */
export const secretKeyOf = ({ metadata: { annotations } }: KubeObject): string | null =>
  annotations?.[SECRET_KEY] ?? null;

export const contentsOf = (secret: KubeObject | null): Readonly<Record<string, string>> =>
  (secret?.["data"] as Record<string, string> | undefined) ?? {};

/** Where an object of ours stands for a resource; null for one that stands for none, like a companion. */
export function addressOfHolder({ kind, metadata: { name, namespace } }: KubeObject): Address | null {
  if (kind === PROJECTS.kind) return { kind: "project", namespace: name, name };
  if (namespace === undefined) return null;
  if (kind === "Secret") return name === REGISTRIES_NAME ? { kind: "registry_secrets", namespace, name } : null;
  return { kind: kind === APPS.kind ? "app" : "addon_instance", namespace, name };
}

/** What an object says that it holds, which `storedIn` checks; null where somebody has taken that away. */
export function entryIn(holder: KubeObject): InventoryEntry | null {
  const address = addressOfHolder(holder);
  const { annotations = {} } = holder.metadata;
  const { [ANNOTATIONS.resourceId]: resource_id, [ANNOTATIONS.hash]: hash } = annotations;
  const generation = Number(annotations[ANNOTATIONS.generation] ?? Number.NaN);
  if (!address || !resource_id || !hash || !Number.isSafeInteger(generation)) return null;
  return { key: keyAt(address), resource_id, generation, hash };
}

/**
 * What is kept in an object and its companion. Null unless both together are what the hub has told, so that nobody acts
 * on what somebody else has written there. What leaves is taken as it is: only its names still matter.
 */
export function storedIn(holder: KubeObject, companion: KubeObject | null): StoredResource | null {
  const address = addressOfHolder(holder);
  const entry = entryIn(holder);
  if (!address || !entry) return null;
  const { kind } = address;
  const leaving = isLeaving(holder);
  const { spec: found, secret } = bodyIn(kind, holder, companion);
  // Charts of a project write Secrets of its namespace, hash and all: what is told there is about that namespace alone.
  const spec = isSpec(found) && isAt(address, found) ? found : null;
  if (!leaving && (!spec || !secret)) return null;
  const body = { spec: spec ?? nothingAt(address), secret: secret ?? NO_SECRET[kind] } as DesiredBodies[DesiredKind];
  if (!leaving && hashOf(body) !== entry.hash) return null;
  return { ...entry, kind, ...body, isLeaving: leaving } as StoredResource;
}

const isSpec = (value: unknown): value is DesiredBodies[DesiredKind]["spec"] =>
  typeof value === "object" && value !== null;

/** What is left to say of pull secrets whose Secret somebody has emptied. */
const nothingAt = ({ namespace }: Address) => ({ project_id: "", namespace, names: [] });

function bodyIn(kind: DesiredKind, holder: KubeObject, companion: KubeObject | null) {
  if (kind === "registry_secrets") {
    const { spec, secret } = contentsOf(holder);
    return { spec: decoded(spec), secret: decoded(secret) };
  }
  if (kind === "project") return { spec: holder["spec"], secret: NO_SECRET.project };
  return { spec: holder["spec"], secret: decoded(contentsOf(companion)[secretKeyOf(holder) ?? ""]) };
}

function decoded(content: string | undefined): unknown {
  if (content === undefined) return null;
  try {
    return JSON.parse(Buffer.from(content, "base64").toString("utf8"));
  } catch {
    return null;
  }
}
