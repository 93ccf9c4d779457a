import { describe, expect, test } from "vitest";
import { containerOf, idsOf, objectAt, objectsOf, podOf, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const DATA = { name: "data", mount_path: "/data", size_gb: 5 };
const one = (spec: Workload, around = {}) => objectsOf([workload("web", spec)], around);
const specOf = (spec: Workload, kind: string, around = {}) => objectAt(one(spec, around), kind)["spec"];
const jobName = (spec: Workload, around = {}) => objectAt(one({ kind: "job", ...spec }, around), "Job").metadata.name;

describe("a deployment", () => {
  test("[RN4] a Deployment never has fewer replicas than asked for during a rollout", () => {
    expect(specOf({ replicas: 3 }, "Deployment")).toMatchObject({
      replicas: 3,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
    });
    expect(specOf({}, "Deployment")).toMatchObject({ replicas: 1 });
  });

  test("[RN4] a Deployment has a progress deadline that is longer by what its startup probe allows", () => {
    const startup = { port: 80, initial_delay_seconds: 5, period_seconds: 10, failure_threshold: 60 };
    expect(specOf({ probes: { startup } }, "Deployment")).toMatchObject({ progressDeadlineSeconds: 1205 });
    expect(specOf({ probes: { startup: { port: 80 } } }, "Deployment")).toMatchObject({ progressDeadlineSeconds: 630 });
  });

  test("[RN4] a Deployment with volumes stops its pods before it starts new ones", () => {
    expect(specOf({ volumes: [DATA] }, "Deployment")).toHaveProperty("strategy", { type: "Recreate" });
  });
});

describe("a statefulset", () => {
  test("[RN5] a StatefulSet has a headless Service that names each replica, and starts all replicas at once", () => {
    const objects = one({ kind: "statefulset", replicas: 2, ports: [{ name: "peer", port: 7000 }] });
    expect(objectAt(objects, "StatefulSet")["spec"]).toMatchObject({
      replicas: 2,
      serviceName: "shop-web-headless",
      podManagementPolicy: "Parallel",
    });
    expect(objectAt(objects, "Service/shop-web-headless")["spec"]).toMatchObject({
      clusterIP: "None",
      publishNotReadyAddresses: true,
      ports: [{ name: "peer", port: 7000 }],
    });
  });

  test("[RN6] a StatefulSet has volumes of its own for each replica, and keeps them", () => {
    const objects = one({ kind: "statefulset", volumes: [DATA] });
    expect(idsOf(objects)).toEqual(["Service/shop-web-headless", "StatefulSet/shop-web"]);
    const spec = objectAt(objects, "StatefulSet")["spec"];
    expect(spec).toMatchObject({
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { resources: { requests: { storage: "5Gi" } } } }],
    });
    expect(spec).not.toHaveProperty("template.spec.volumes");
  });
});

test.each(["deployment", "job", "cronjob"] as const)(
  "[RN6] a volume of a %s is a claim that its pods mount",
  (kind) => {
    const spec: Workload = { kind, volumes: [DATA], ...(kind === "cronjob" ? { schedule: "@daily" } : {}) };
    expect(objectAt(one(spec), "PersistentVolumeClaim/shop-web-data")["spec"]).toEqual({
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "5Gi" } },
    });
    const pod = podOf(workload("web", spec)).spec;
    expect(pod).toMatchObject({
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "shop-web-data" } }],
      securityContext: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" },
      containers: [{ volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    });
  },
);

describe("the class and the access mode of a volume", () => {
  const volume = { ...DATA, storage_class: "fast", access_mode: "ReadWriteMany" } as const;
  const expected = {
    accessModes: ["ReadWriteMany"],
    storageClassName: "fast",
    resources: { requests: { storage: "5Gi" } },
  };

  test("[RN38] class and mode of a volume are those of its claim, also in the templates of a StatefulSet", () => {
    expect(objectAt(one({ volumes: [volume] }), "PersistentVolumeClaim/shop-web-data")["spec"]).toEqual(expected);
    expect(specOf({ kind: "statefulset", volumes: [volume] }, "StatefulSet")).toMatchObject({
      volumeClaimTemplates: [{ spec: expected }],
    });
  });

  test("[RN4] a deployment all of whose volumes can be mounted on several nodes is replaced without a pause", () => {
    const strategyWith = (...volumes: NonNullable<Workload["volumes"]>) => specOf({ volumes }, "Deployment");
    expect(strategyWith(volume)).toMatchObject({ strategy: { type: "RollingUpdate" } });
    for (const access_mode of ["ReadWriteOncePod", "ReadWriteOnce", undefined] as const) {
      const own = { name: "own", mount_path: "/own", size_gb: 1, ...(access_mode ? { access_mode } : {}) };
      expect(strategyWith(volume, own)).toMatchObject({ strategy: { type: "Recreate" } });
    }
  });
});

describe("a job", () => {
  test("[RN7] a Job runs once, whatever number of replicas is written", () => {
    expect(specOf({ kind: "job", replicas: 3 }, "Job")).toMatchObject({ suspend: false, backoffLimit: 3 });
    expect(specOf({ kind: "job", replicas: 3 }, "Job")).not.toHaveProperty("completions");
    expect(podOf(workload("web", { kind: "job" })).spec).toHaveProperty("restartPolicy", "Never");
  });

  test("[RN7] a Job gets another name when what it runs or what it is given changes", () => {
    const names = [
      jobName({}),
      jobName({ image: "other" }),
      jobName({ args: ["x"] }),
      jobName({ env: [{ name: "A", value: "1" }] }),
      jobName({}, { secrets: { web: { A: "1" } } }),
      jobName({}, { secrets: { web: { A: "2" } } }),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test("[RN7] [AO40] a Job keeps its name with a pause, another pull secret, other replicas or another pod security level", () => {
    const names = [
      jobName({}),
      jobName({}, { paused: true }),
      jobName({}, { pullSecrets: ["r"] }),
      jobName({ replicas: 4 }),
      jobName({}, { podSecurity: "restricted" }),
    ];
    expect(new Set(names).size).toBe(1);
  });

  test("[RN7] a Job keeps its name from one version of the operator to the next, or all Jobs would run again", () => {
    expect(jobName({ command: ["migrate"], env: [{ name: "A", value: "1" }] })).toBe("shop-web-3caf46b6");
  });
});

test("[RN8] a cronjob runs by UTC, never twice at once, and at most an hour late", () => {
  expect(specOf({ kind: "cronjob", schedule: "0 3 * * *" }, "CronJob")).toMatchObject({
    schedule: "0 3 * * *",
    timeZone: "Etc/UTC",
    suspend: false,
    concurrencyPolicy: "Forbid",
    startingDeadlineSeconds: 3600,
    jobTemplate: { spec: { template: { spec: { restartPolicy: "Never" } } } },
  });
});

describe("what scales by itself", () => {
  const autoscale = { min: 2, max: 6, cpu_percent: 70 };

  test.each(["deployment", "statefulset"] as const)("[RN11] a %s that autoscales sets no replicas", (kind) => {
    const objects = one({ kind, autoscale, replicas: 4 });
    const target = objectAt(objects, kind === "deployment" ? "Deployment" : "StatefulSet");
    expect(target["spec"]).not.toHaveProperty("replicas");
    expect(objectAt(objects, "HorizontalPodAutoscaler")["spec"]).toEqual({
      scaleTargetRef: { apiVersion: "apps/v1", kind: target.kind, name: "shop-web" },
      minReplicas: 2,
      maxReplicas: 6,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } },
      ],
    });
  });

  test.each<[string, Workload["resources"], unknown]>([
    ["where nothing is said", undefined, { requests: { cpu: "100m" } }],
    ["where only memory is requested", { requests: { memory: "1Gi" } }, { requests: { cpu: "100m", memory: "1Gi" } }],
    ["but not where it is requested", { requests: { cpu: "2" } }, { requests: { cpu: "2" } }],
    ["nor where it is limited", { limits: { cpu: "2" } }, { limits: { cpu: "2" } }],
  ])("[RN11] a component with autoscaling requests some CPU to scale by %s", (_, resources, expected) => {
    const spec = resources ? { autoscale, resources } : { autoscale };
    expect(containerOf(workload("web", spec))["resources"]).toEqual(expected);
  });
});

test("[RN12] probes send an HTTP request, open a TCP port or run a command", () => {
  const probes = {
    readiness: { path: "/healthz", port: 8080, initial_delay_seconds: 0, period_seconds: 5 },
    liveness: { port: 8080, initial_delay_seconds: 3, timeout_seconds: 2, failure_threshold: 4 },
    startup: { command: ["test", "-f", "/ready"] },
  };
  expect(containerOf(workload("web", { probes }))).toMatchObject({
    readinessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 5 },
    livenessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 3, timeoutSeconds: 2, failureThreshold: 4 },
    startupProbe: { exec: { command: ["test", "-f", "/ready"] } },
  });
});

test("[RN13] the container runs the command, arguments, resources and ports that are written", () => {
  const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } };
  const ports = [
    { name: "http", port: 80 },
    { name: "53", port: 53, protocol: "UDP" as const },
    { name: "a--b", port: 81 },
  ];
  expect(containerOf(workload("web", { command: ["run"], args: ["-v"], resources, ports }))).toEqual({
    name: "web",
    image: "nginx:1.29",
    command: ["run"],
    args: ["-v"],
    resources,
    ports: [
      { name: "http", containerPort: 80, protocol: "TCP" },
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 81, protocol: "TCP" },
    ],
    securityContext: { allowPrivilegeEscalation: false },
  });
});

describe("pods", () => {
  test("[RN14] pods get no token, no variables about Services, no new privileges, and every pull secret", () => {
    const pod = podOf(workload("web"), { pullSecrets: ["ghcr-registry-project", "hub-registry-cluster"] });
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      imagePullSecrets: [{ name: "ghcr-registry-project" }, { name: "hub-registry-cluster" }],
      containers: [{ securityContext: { allowPrivilegeEscalation: false } }],
    });
    expect(pod.spec).not.toHaveProperty("securityContext.fsGroup");
  });

  test.each(["deployment", "statefulset", "job", "cronjob"] as const)(
    "[AO40] pods of a %s meet the level `restricted` where it is asked for, and may run as root elsewhere",
    (kind) => {
      const contextAt = (podSecurity: "privileged" | "baseline" | "restricted") =>
        podOf(workload("web", { kind, schedule: "0 3 * * *" }), { podSecurity }).spec.containers[0]["securityContext"];
      expect(contextAt("restricted")).toEqual({
        allowPrivilegeEscalation: false,
        runAsNonRoot: true,
        capabilities: { drop: ["ALL"] },
      });
      for (const level of ["privileged", "baseline"] as const) {
        expect(contextAt(level)).toEqual({ allowPrivilegeEscalation: false });
      }
    },
  );

  test("[RN14] pods of a Job pull images with the pull secrets of their service account", () => {
    const objects = one({ kind: "job" }, { pullSecrets: ["ghcr-registry-project"] });
    expect(objectAt(objects, "ServiceAccount/shop-web")).toMatchObject({
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "ghcr-registry-project" }],
    });
    const pod = podOf(workload("web", { kind: "job" }), { pullSecrets: ["ghcr-registry-project"] }).spec;
    expect(pod).toHaveProperty("serviceAccountName", "shop-web");
    expect(pod).not.toHaveProperty("imagePullSecrets");
  });
});

describe("while the app is paused", () => {
  const paused = { paused: true };

  test("[RN15] while an app is paused no workload has replicas, and no autoscaler would bring them back", () => {
    const spec: Workload = {
      replicas: 3,
      ports: [{ name: "http", port: 80 }],
      ingress: { host: "shop.example.com" },
      autoscale: { min: 1, max: 2, cpu_percent: 50 },
    };
    const objects = one(spec, paused);
    expect(idsOf(objects)).toEqual(["Service/shop-web", "Deployment/shop-web", "Ingress/shop-web"]);
    expect(objectAt(objects, "Deployment")["spec"]).toHaveProperty("replicas", 0);
    expect(specOf({ kind: "statefulset", replicas: 2 }, "StatefulSet", paused)).toHaveProperty("replicas", 0);
  });

  test("[RN15] while an app is paused its Jobs and CronJobs are suspended", () => {
    expect(specOf({ kind: "job" }, "Job", paused)).toHaveProperty("suspend", true);
    expect(specOf({ kind: "cronjob", schedule: "@daily" }, "CronJob", paused)).toHaveProperty("suspend", true);
  });
});
