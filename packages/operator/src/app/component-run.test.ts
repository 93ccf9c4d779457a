import { LABELS, type RunRequest } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { specOf } from "../kube/object-fields.ts";
import { runJob, runOf } from "./component-run.ts";

const CLUSTER = "0190e5e0-0000-7000-8000-0000000000c1";
const RUN = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const asked = (fields: Partial<RunRequest> = {}): RunRequest => ({
  name: "run",
  namespace: "shop",
  app: "shop",
  component: "web",
  run_id: RUN,
  command: null,
  args: null,
  env: [],
  ...fields,
});
const pod = {
  serviceAccountName: "shop-web",
  restartPolicy: "Always",
  volumes: [
    { name: "data", persistentVolumeClaim: { claimName: "shop-web-data" } },
    { name: "config", configMap: { name: "shop-web-files" } },
  ],
  initContainers: [{ name: "migrate" }, { name: "proxy", restartPolicy: "Always", volumeMounts: [{ name: "data" }] }],
  containers: [
    {
      name: "web",
      image: "nginx:1.29",
      command: ["nginx"],
      args: ["-g"],
      env: [
        { name: "A", value: "1" },
        { name: "B", valueFrom: { secretKeyRef: { name: "shop-web-secrets", key: "B" } } },
      ],
      ports: [{ containerPort: 80 }],
      livenessProbe: { httpGet: {} },
      volumeMounts: [{ name: "data" }, { name: "config" }],
    },
    { name: "sidecar", image: "logger:1" },
  ],
};
const made = (kind: string, spec: object): KubeObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "shop-web", namespace: "shop" },
  spec,
});
const deployment = made("Deployment", { template: { spec: pod } });
const podOf = (job: KubeObject) =>
  (specOf(job)["template"] as { readonly metadata: object; readonly spec: typeof pod }).spec;

describe("the Job of a run", () => {
  test("[AP98] the Job of a run has the workload's first container without claims, probes and ports, and is not retried", () => {
    const job = runJob(deployment, asked(), CLUSTER);
    expect(specOf(job)).toMatchObject({
      backoffLimit: 0,
      ttlSecondsAfterFinished: 86_400,
      activeDeadlineSeconds: 86_400,
      template: { spec: { restartPolicy: "Never", serviceAccountName: "shop-web" } },
    });
    const { volumes, initContainers, containers } = podOf(job);
    expect(volumes.map(({ name }) => name)).toEqual(["config"]);
    expect(initContainers).toEqual([{ name: "proxy", restartPolicy: "Always", volumeMounts: [] }]);
    expect(containers).toEqual([
      {
        name: "web",
        image: "nginx:1.29",
        command: ["nginx"],
        args: ["-g"],
        env: pod.containers[0]?.env,
        volumeMounts: [{ name: "config" }],
      },
    ]);
  });

  test("[AP98] the Job of a run has the labels of its component, but no Service and no workload selects its pods", () => {
    const job = runJob(deployment, asked(), CLUSTER);
    expect(job.metadata.labels).toMatchObject({ [LABELS.app]: "shop", [LABELS.component]: "web", [LABELS.run]: RUN });
    const { labels } = (specOf(job)["template"] as KubeObject).metadata;
    expect(labels).toMatchObject({ [LABELS.app]: "shop", [LABELS.run]: RUN, [LABELS.cluster]: CLUSTER });
    expect(labels).not.toHaveProperty([LABELS.component]);
  });

  test("[AP98] the Job of a run uses the command, arguments and variables asked for, and otherwise those of the workload", () => {
    const env = [
      { name: "A", value: "2" },
      { name: "C", value: "3" },
    ];
    const [container] = podOf(runJob(deployment, asked({ command: ["sh", "-c", "true"], env }), CLUSTER)).containers;
    expect(container).toMatchObject({ command: ["sh", "-c", "true"], args: [] });
    expect(container?.env).toEqual([pod.containers[0]?.env?.[1], ...env]);
    const [other] = podOf(runJob(deployment, asked({ args: ["-v"] }), CLUSTER)).containers;
    expect(other).toMatchObject({ command: ["nginx"], args: ["-v"] });
  });

  test("[AP98] the Job of a run can be made from the pod template of a CronJob", () => {
    const cron = made("CronJob", { jobTemplate: { spec: { template: { spec: pod } } } });
    expect(podOf(runJob(cron, asked(), CLUSTER)).containers[0]).toMatchObject({ image: "nginx:1.29" });
  });
});

describe("the state of a run", () => {
  const job = (conditions: readonly object[] = []): KubeObject => ({
    ...runJob(deployment, asked(), CLUSTER),
    status: { conditions },
  });
  const podWith = (state: object, phase = "Running"): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "run-1", namespace: "shop", labels: { [LABELS.run]: RUN } },
    status: { phase, containerStatuses: [{ name: "web", state }] },
  });
  const COMPLETE = { type: "Complete", status: "True" };
  const FAILED = { type: "Failed", status: "True", reason: "BackoffLimitExceeded", message: "It has failed." };
  const ended = (exitCode: number) => ({ terminated: { exitCode, finishedAt: "2026-01-31T09:29:00Z" } });

  test.each([
    [[], [], { status: "pending", exit_code: null }],
    [[], [podWith({ running: { startedAt: "2026-01-31T09:28:00Z" } })], { status: "running", exit_code: null }],
    [[], [podWith(ended(0))], { status: "succeeded", exit_code: 0 }],
    [[COMPLETE], [], { status: "succeeded", exit_code: 0 }],
    [[], [podWith(ended(3), "Failed")], { status: "failed", exit_code: 3, message: "It ended with the exit code 3." }],
    [[FAILED], [], { status: "failed", exit_code: null, message: "It has failed." }],
    [
      [],
      [podWith({ waiting: { reason: "ImagePullBackOff", message: "not found" } }, "Pending")],
      { status: "pending", exit_code: null, message: expect.stringContaining("cannot be pulled") },
    ],
  ])("[AP97] the state of a run with the conditions %j follows its Job and pod", (conditions, pods, expected) => {
    expect(runOf(job(conditions), pods as KubeObject[], NOW)).toMatchObject({ id: RUN, component: "web", ...expected });
  });

  test("[AP97] the state of a run is not taken from the pod of another run", () => {
    const other = podWith(ended(9), "Failed");
    const theirs = { ...other, metadata: { ...other.metadata, labels: { [LABELS.run]: CLUSTER } } };
    expect(runOf(job(), [theirs], NOW)).toMatchObject({ status: "pending", exit_code: null });
  });
});
