import {
  APPLY,
  type Case,
  container,
  drop,
  dry,
  get,
  job,
  named,
  patch,
  post,
  STRATEGIC,
  template,
  workload,
} from "./conformance-case.fixture.ts";

/** Cases of the kinds that run pods. */
export const WORKLOAD_CASES: readonly Case[] = [
  post("a number that is a text", "deployments.apps", 400, workload("Deployment", "d", { replicas: "x" })),
  post("a Deployment with nothing in it", "deployments.apps", 422, named("Deployment", "d", { spec: {} }, "apps/v1")),
  post(
    "a Deployment with much that is wrong",
    "deployments.apps",
    422,
    workload("Deployment", "d", {
      replicas: -1,
      template: {
        metadata: { labels: { x: "y" } },
        spec: {
          restartPolicy: "Never",
          volumes: [{ name: "v" }, { name: "v" }],
          containers: [
            {
              name: "C_",
              image: "",
              imagePullPolicy: "Foo",
              livenessProbe: {},
              ports: [{ containerPort: 0 }, { containerPort: 99_999, name: "Toolongnamehere123" }],
              env: [{ name: "" }, { name: "a=b" }],
              volumeMounts: [{ name: "nope", mountPath: "" }],
            },
            { name: "C_", image: "x" },
          ],
        },
      },
    }),
  ),
  post("a Deployment, by its defaults", `deployments.apps${dry}`, 201, workload("Deployment", "d")),
  post(
    "a pod template with most of what it may have",
    `deployments.apps${dry}`,
    201,
    workload("Deployment", "d", {
      strategy: { type: "Recreate" },
      minReadySeconds: 0,
      template: template({
        containers: [
          {
            ...container,
            args: [],
            env: [
              { name: "A", value: "" },
              { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
            ],
            ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP", name: "dns" }],
            readinessProbe: { httpGet: { port: "http" }, initialDelaySeconds: 0, periodSeconds: 5 },
            startupProbe: { tcpSocket: { port: 80 } },
            resources: { requests: { cpu: 0.5, memory: "1024Mi" }, limits: { cpu: "1000m", memory: "1.5Gi" } },
            securityContext: { runAsNonRoot: true, privileged: false },
            volumeMounts: [{ name: "s", mountPath: "/s", readOnly: false }],
          },
          { name: "d", image: "nginx" },
        ],
        volumes: [
          { name: "s", secret: { secretName: "x" } },
          { name: "e", emptyDir: {} },
          { name: "p", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
        ],
        serviceAccountName: "x",
        nodeSelector: {},
      }),
    }),
  ),
  post("a Deployment that stays", "deployments.apps", 201, workload("Deployment", "stays")),
  patch("another selector", "deployments.apps/stays", 422, {
    spec: { selector: { matchLabels: { c: "d" } }, template: { metadata: { labels: { c: "d" } } } },
  }),
  patch(
    "a strategic patch",
    `deployments.apps/stays${dry}`,
    200,
    {
      spec: {
        strategy: { $retainKeys: ["type"], type: "Recreate" },
        template: {
          spec: {
            containers: [
              { name: "c", env: [{ name: "A", value: "1" }] },
              { name: "d", image: "x:1" },
            ],
          },
        },
      },
    },
    STRATEGIC,
  ),
  patch(
    "a strategic patch that takes away",
    `deployments.apps/stays${dry}`,
    422,
    { spec: { template: { spec: { containers: [{ name: "c", $patch: "delete" }] } } } },
    STRATEGIC,
  ),
  patch(
    "an apply with an element twice",
    "deployments.apps/stays?fieldManager=a",
    500,
    workload("Deployment", "stays", { template: template({ containers: [container, container] }) }),
    APPLY,
  ),
  patch(
    "an apply of part of a list",
    "deployments.apps/stays?fieldManager=a&force=true&dryRun=All",
    200,
    workload("Deployment", "stays", {
      template: template({ containers: [{ name: "c", image: "nginx:2", env: [{ name: "Z", value: "1" }] }] }),
    }),
    APPLY,
  ),
  get("its scale", "deployments.apps/stays/scale", 200),
  patch("another scale, for trial", `deployments.apps/stays/scale${dry}`, 200, { spec: { replicas: 2 } }),
  drop("a Deployment", "deployments.apps/stays", 200, { propagationPolicy: "Background" }),

  post(
    "a StatefulSet, by its defaults",
    `statefulsets.apps${dry}`,
    201,
    workload("StatefulSet", "s", {
      serviceName: "x",
      template: template({ containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/data" }] }] }),
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    }),
  ),
  post("a StatefulSet that stays", "statefulsets.apps", 201, workload("StatefulSet", "stays", { serviceName: "x" })),
  patch("another service of a StatefulSet", "statefulsets.apps/stays", 422, { spec: { serviceName: "y" } }),
  patch("other volumes of a StatefulSet", "statefulsets.apps/stays", 422, {
    spec: {
      volumeClaimTemplates: [
        {
          metadata: { name: "x" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  }),
  post(
    "a DaemonSet, by its defaults",
    `daemonsets.apps${dry}`,
    201,
    named("DaemonSet", "x", { spec: { selector: { matchLabels: { a: "b" } }, template: template() } }, "apps/v1"),
  ),

  post("a Job, by its defaults", `jobs.batch${dry}`, 201, job("j")),
  post("a Job that would restart for ever", `jobs.batch${dry}`, 422, job("j", { template: template() })),
  post("a Job that stays", "jobs.batch", 201, job("stays")),
  patch("more completions of a Job", "jobs.batch/stays", 422, { spec: { completions: 3 } }),
  patch("another image of a Job", "jobs.batch/stays", 422, {
    spec: { template: { spec: { containers: [{ name: "c", image: "nginx:2" }] } } },
  }),
  post(
    "a CronJob, by its defaults",
    `cronjobs.batch${dry}`,
    201,
    named(
      "CronJob",
      "x",
      {
        spec: {
          schedule: "* * * * *",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
          },
        },
      },
      "batch/v1",
    ),
  ),
  post(
    "a CronJob at no time",
    `cronjobs.batch${dry}`,
    422,
    named("CronJob", "x", { spec: { schedule: "foo", jobTemplate: { spec: { template: template() } } } }, "batch/v1"),
  ),
];
