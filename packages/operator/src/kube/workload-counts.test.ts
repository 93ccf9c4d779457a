import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { together, type WorkloadCounts, workloadCounts } from "./workload-counts.ts";

const template = {
  spec: {
    containers: [
      { name: "main", image: "nginx:1" },
      { name: "side", image: "side:1" },
    ],
  },
};
const object = (kind: string, spec: object, status: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "web" },
  spec: { template, ...spec },
  status,
});
const image = "nginx:1";

describe("the replicas of a workload", () => {
  test.each<[string, KubeObject, KubeObject | null, WorkloadCounts]>([
    [
      "a Deployment that somebody has scaled",
      object("Deployment", { replicas: 3 }),
      object("Deployment", { replicas: 1 }, { readyReplicas: 1, updatedReplicas: 1 }),
      { desired: 3, least: 3, ready: 1, updated: 1, image },
    ],
    [
      "a StatefulSet that scales by itself",
      object("StatefulSet", {}),
      object("StatefulSet", { replicas: 4 }, { readyReplicas: 3, updatedReplicas: 4 }),
      { desired: 4, least: 1, ready: 3, updated: 4, image },
    ],
    [
      "a Deployment that is gone",
      object("Deployment", { replicas: 3 }),
      null,
      { desired: 3, least: 3, ready: 0, updated: 0, image },
    ],
    [
      "a DaemonSet",
      object("DaemonSet", {}),
      object("DaemonSet", {}, { desiredNumberScheduled: 5, numberReady: 4, updatedNumberScheduled: 3 }),
      { desired: 5, least: 5, ready: 4, updated: 3, image },
    ],
    ["a DaemonSet that is gone", object("DaemonSet", {}), null, { desired: 1, least: 1, ready: 0, updated: 0, image }],
    [
      "a Job",
      object("Job", {}),
      object("Job", {}, { ready: 1, active: 1 }),
      { desired: 0, least: 0, ready: 1, updated: 1, image },
    ],
    [
      "a CronJob",
      object("CronJob", { template: undefined, jobTemplate: { spec: { template } } }),
      object("CronJob", { template: undefined, jobTemplate: { spec: { template } } }, { active: [{}, {}] }),
      { desired: 0, least: 0, ready: 2, updated: 2, image },
    ],
    ["anything else", object("Service", {}), null, { desired: 0, least: 0, ready: 0, updated: 0, image: null }],
  ])("[AO43] the replicas are counted of %s", (_, asked, live, expected) => {
    expect(workloadCounts(asked, live)).toEqual(expected);
  });

  test("[AO43] the replicas of a release are added up, and its image is the first one known", () => {
    const one = { desired: 2, least: 1, ready: 1, updated: 2, image: null };
    const other = { desired: 1, least: 1, ready: 1, updated: 1, image };
    expect(together([one, other, { ...other, image: "second" }])).toEqual({
      desired: 4,
      least: 3,
      ready: 3,
      updated: 4,
      image,
    });
  });
});
