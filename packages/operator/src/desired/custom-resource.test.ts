import { gzipSync } from "node:zlib";
import { ANNOTATIONS, canonicalJson, FINALIZER, LABELS } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { companionOf, encoded, hashOf, holderOf, storedIn, versionIn } from "./custom-resource.ts";
import { type Apply, addressIn, applyAddon, applyApp, applyProject, applyRegistries } from "./frames.fixture.ts";
import { type Address, companionName } from "./stored-kind.ts";

const CLUSTER = "01932c07-31f1-7a4e-8d8b-00000000000c";

/** As the store writes them, without a cluster in between. */
function written(frame: Apply): { address: Address; holder: KubeObject; companion: KubeObject | null } {
  const address = addressIn(frame);
  const name = companionName(address);
  const holder = holderOf(frame, address, CLUSTER, name ? frame.hash : null);
  const contents = { [frame.hash]: encoded(frame.body.secret) };
  return { address, holder, companion: name ? companionOf(name, frame, CLUSTER, contents, null) : null };
}

const leaving = ({ metadata, ...object }: KubeObject): KubeObject =>
  ({
    ...object,
    metadata: { ...metadata, deletionTimestamp: "2026-01-31T09:30:00Z" },
  }) as KubeObject;

const FRAMES = [applyProject(), applyApp(), applyAddon(), applyRegistries([{ name: "hub" }])] as const;

describe.each(FRAMES.map((frame) => [frame.kind, frame] as const))("a resource of the kind %s", (_, frame) => {
  const { address, holder, companion } = written(frame);

  test("[OD1] a resource that is written to the cluster is the same when it is read back", () => {
    const { key, resource_id, generation, hash, kind, body } = frame;
    const stored = { key, resource_id, generation, hash, kind, ...body, isDeleting: false };
    expect(storedIn(address, holder, companion)).toEqual(stored);
    expect(versionIn(holder)).toEqual({ resource_id, generation, hash });
  });

  test("[OD1] a written resource is labelled with its cluster, annotated with its id, and has a finalizer", () => {
    expect(holder.metadata.labels).toMatchObject({ [LABELS.managedBy]: "binnacle", [LABELS.cluster]: CLUSTER });
    expect(holder.metadata.annotations).toMatchObject({ [ANNOTATIONS.resourceId]: frame.resource_id });
    expect(holder.metadata.finalizers).toEqual([FINALIZER]);
  });

  test("[OD8] a resource that somebody has changed does not count, unless it is being deleted", () => {
    const renamed = {
      ...holder,
      spec: { ...frame.body.spec, name: "other" },
      data: { spec: encoded({}), secret: encoded({}) },
    };
    expect(storedIn(address, renamed, companion)).toBeNull();
    expect(storedIn(address, leaving(renamed), companion)).toMatchObject({ key: frame.key, isDeleting: true });
    const { annotations: _, ...bare } = holder.metadata;
    expect(storedIn(address, { ...holder, metadata: bare }, companion)).toBeNull();
  });
});

test("[OD1] a custom resource holds no secret, in any form", () => {
  for (const frame of [applyApp(), applyAddon()]) {
    const { holder, companion } = written(frame);
    expect(JSON.stringify(holder)).not.toContain("s3cret");
    expect(JSON.stringify(holder)).not.toContain(encoded(frame.body.secret));
    expect(companion?.["type"]).toBe("binnacle.dev/desired");
    expect(companion?.metadata.labels).not.toHaveProperty([LABELS.app]);
  }
});

test("[OD8] a resource without its companion Secret, or with one of another content, does not count", () => {
  const { address, holder, companion } = written(applyApp());
  const other = written(applyApp({ password: "other" }));
  expect(storedIn(address, holder, null)).toBeNull();
  expect(storedIn(address, holder, other.companion)).toBeNull();
  expect(storedIn(address, holder, { ...(companion as KubeObject), data: { [applyApp().hash]: "e" } })).toBeNull();
  expect(storedIn(address, leaving(holder), null)).toMatchObject({
    isDeleting: true,
    secret: { secrets: {}, values: {} },
  });
});

test("[OD54] a large content is compressed and read back, and one that unpacks without an end counts as unreadable", () => {
  const frame = applyApp({ password: "panel ".repeat(300_000) });
  const { address, holder, companion } = written(frame);
  expect(JSON.stringify(companion).length).toBeLessThan(100_000);
  expect(storedIn(address, holder, companion)).toMatchObject(frame.body);
  expect(encoded({ a: "b".repeat(1_000) })).toBe(Buffer.from(`{"a":"${"b".repeat(1_000)}"}`).toString("base64"));
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " ")).toString("base64");
  expect(bomb.length).toBeLessThan(200_000);
  expect(storedIn(address, holder, { ...(companion as KubeObject), data: { [frame.hash]: bomb } })).toBeNull();
});

test("[OD7] pull secrets can be removed also when somebody has emptied their Secret", () => {
  const { address, holder } = written(applyRegistries([{ name: "hub" }]));
  const { data: _, ...emptied } = holder;
  expect(storedIn(address, emptied as KubeObject, null)).toBeNull();
  expect(storedIn(address, leaving(emptied as KubeObject), null)).toMatchObject({
    spec: { namespace: "shop", names: [] },
    secret: { registries: [] },
  });
});

test("[OD13] pull secrets belong to the namespace of their Secret, whatever somebody has written into the Secret", () => {
  const { holder } = written(applyRegistries([{ name: "hub" }], "elsewhere"));
  const address = addressIn(applyRegistries([], "shop"));
  const moved = { ...holder, metadata: { ...holder.metadata, namespace: "shop" } };
  expect(storedIn(address, moved, null)).toBeNull();
  expect(storedIn(address, leaving(moved), null)).toMatchObject({ spec: { namespace: "shop", names: [] } });
  for (const spec of ["5", "null", '"shop"', "[]"]) {
    const data = { ...(holder["data"] as object), spec: Buffer.from(spec).toString("base64") };
    expect(storedIn(address, { ...moved, data }, null)).toBeNull();
  }
});

test("[OD3] a companion Secret that holds two contents gives each custom resource its own content", () => {
  const before = applyApp();
  const after = applyApp({ generation: 2, password: "changed", image: "nginx:1.30" });
  const contents = { [before.hash]: encoded(before.body.secret), [after.hash]: encoded(after.body.secret) };
  const address = addressIn(before);
  const both = companionOf("binnacle-app-web", after, CLUSTER, contents, null);
  expect(storedIn(address, written(before).holder, both)).toMatchObject(before.body);
  expect(storedIn(address, written(after).holder, both)).toMatchObject(after.body);
});

test("[OD1] the hash of a resource depends on its content, and not on the order of its fields", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
      const reversed = Object.fromEntries(Object.entries(fields).reverse());
      const [one, other] = [fields, reversed].map((spec) => hashOf({ spec, secret: {} } as never));
      expect(one).toBe(other);
      expect(hashOf(JSON.parse(canonicalJson({ spec: fields, secret: {} })))).toBe(one);
    }),
  );
});
