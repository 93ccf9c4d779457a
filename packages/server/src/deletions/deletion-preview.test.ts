import type { ComponentSpec, ObservedVolume } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { noOperatorConnected } from "../hub/operator-requests.ts";
import { auditedVolumes, declaredVolumes, KEPT_BY_APP, previewOf, UNKNOWN_FATE } from "./deletion-preview.ts";

const volume = (fields: Partial<ObservedVolume> = {}): ObservedVolume => ({
  claim: "shop-db-data",
  component: "db",
  size: "10Gi",
  storage_class: "standard",
  volume: "pv-1",
  reclaim_policy: "Delete",
  fate: "deleted",
  kept_by: null,
  ...fields,
});
const outlook = (...volumes: ObservedVolume[]) => ({
  objects: [],
  volumes,
  truncated: false,
  observed_at: "2026-01-31T09:30:00.000Z",
});
const target = { type: "app", id: null, name: "shop" } as const;

describe("a preview", () => {
  test.each([
    [{ fate: "deleted" }, /^Not at all.*backup/],
    [{ fate: "released" }, /PersistentVolume pv-1/],
    [{ fate: "kept", kept_by: "app" }, /component of the same name/],
    [{ fate: "kept", kept_by: "release" }, /release of the same name.*passwords/],
    [{ fate: "kept", kept_by: "chart" }, /chart keeps the claim/],
    [{ fate: "unknown" }, /not reported.*backup/],
  ] as const)("[AP92] the preview of a volume that is %o says how to get the data back", (fields, words) => {
    const { volumes } = previewOf({ target }, outlook(volume(fields)), []);
    expect(volumes[0]?.recovery).toMatch(words);
    expect(volumes[0]).not.toHaveProperty("kept_by");
  });

  test("[AP94] a preview without an answer of the cluster has the declared volumes, and says that more is unknown", () => {
    const declared = declaredVolumes({ name: "shop", components: [DB, WEB] }, UNKNOWN_FATE);
    expect(previewOf({ target }, noOperatorConnected(), declared)).toMatchObject({
      volumes_known: false,
      message: "No operator of the cluster is connected. Try again in a moment.",
      observed_at: null,
      objects: [],
      volumes: [
        { claim: "data-shop-db-0", size: "10Gi", fate: "unknown" },
        { claim: "data-shop-db-1", size: "10Gi", fate: "unknown" },
        { claim: "shop-web-files", size: "1Gi", fate: "unknown" },
      ],
    });
  });

  test("[AP94] a preview has at most 200 declared volumes and says that it is truncated", () => {
    const many = { ...DB, workload_spec: { ...DB.workload_spec, replicas: 100_000 } };
    const declared = declaredVolumes({ name: "shop", components: [many] }, KEPT_BY_APP);
    const preview = previewOf({ target }, noOperatorConnected(), declared);
    expect([preview.volumes.length, preview.truncated]).toEqual([200, true]);
  });
});

const DB: ComponentSpec = {
  name: "db",
  type: "workload",
  workload_spec: {
    kind: "statefulset",
    image: "postgres:18",
    replicas: 2,
    volumes: [{ name: "data", mount_path: "/data", size_gb: 10 }],
  },
};
const WEB: ComponentSpec = {
  name: "web",
  type: "workload",
  workload_spec: { image: "nginx:1.29", volumes: [{ name: "files", mount_path: "/files", size_gb: 1 }] },
};

test("[AP95] the audit log has the claims by fate, with the volumes that are left without a claim", () => {
  const all = outlook(
    volume(),
    volume({ claim: "a", fate: "released", volume: "pv-a" }),
    volume({ claim: "b", fate: "kept", kept_by: "release" }),
  );
  expect(auditedVolumes(all)).toEqual({ volumes: { deleted: ["shop-db-data"], released: ["a (pv-a)"], kept: ["b"] } });
  expect(auditedVolumes(outlook())).toEqual({});
  expect(auditedVolumes(noOperatorConnected())).toEqual({ volumes: "unknown" });
});
