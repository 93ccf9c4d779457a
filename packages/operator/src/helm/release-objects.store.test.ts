import { expect, test } from "vitest";
import type { KubeClient } from "../kube/kube-client.ts";
import { contentOf } from "./manifest.ts";
import { createReleaseObjects } from "./release-objects.store.ts";

const MANIFEST = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {rules: [{host: victim.example}]}
`;
const ID = { namespace: "bank", name: "db", owner: "addon" };
const REVISION = { secret: "db.v1", uid: "1", version: 1, status: "deployed", isOurs: true, digest: null };
const RIGHTS = { user: "charts", namespace: "bank", isClusterWide: false, remedy: "Ask." };

test("[HE49] a release with a host that another namespace uses is not applied again, and says so", async () => {
  const INGRESS = { group: "networking.k8s.io", version: "v1", plural: "ingresses", kind: "Ingress", namespaced: true };
  const objects = createReleaseObjects({
    // Nobody may be asked for the objects, let alone to make them.
    kube: { resourceTypeOf: async () => INGRESS } as unknown as KubeClient,
    hosts: { takenByOthers: (namespace, hosts) => (namespace === "bank" ? [...hosts] : []) },
    store: { content: async () => contentOf(MANIFEST) },
    pods: { in: () => [] },
    nowMs: () => 0,
    versionOf: () => undefined,
  });
  const upkeep = { isSyncing: true, takeOver: true, mayHeal: () => true };
  const { readiness, healed } = await objects.inspect(ID, REVISION, RIGHTS, upkeep);
  const message = expect.stringContaining("the host victim.example, which another namespace");
  expect(readiness).toMatchObject({ state: "failed", reason: "HostTaken", message });
  expect(healed).toEqual([]);
});
