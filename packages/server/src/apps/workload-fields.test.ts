import { type ComponentSpec, createApp, createStackTemplate, problemsOf as problemsOfApp } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "../http/checked.fixture.ts";
import { workload } from "./app.fixture.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

/** The problems of an app of these components: those of the schema, or where it has none those of the code. */
function problemsOf(components: readonly unknown[]) {
  const malformed = bodyProblems(createApp, { name: "shop", project_id: ID, components });
  const found =
    malformed.length > 0
      ? malformed.map((item) => ({ ...item, loc: item.loc.slice(2) }))
      : problemsOfApp({ name: "shop", components: components as ComponentSpec[] }).map(({ path, message }) => ({
          loc: path.slice(1),
          msg: message,
        }));
  return found.map(({ loc, msg }) => [loc.slice(1).join("."), msg] as const);
}
const locsOf = (spec: object) =>
  problemsOf([{ name: "web", workload_spec: spec }]).map(([loc]) => loc.replace(/^workload_spec\.?/, ""));
const messagesOf = (spec: object) => problemsOf([{ name: "web", workload_spec: spec }]).map(([, msg]) => msg);

describe("labels and annotations", () => {
  test.each(["labels", "annotations"])(
    "[AP100] a workload takes only keys of the form that Kubernetes takes: %s",
    (field) => {
      expect(
        locsOf({ [field]: { team: "payments", "example.com/cost-centre": "42", "prometheus.io/port": "80" } }),
      ).toEqual([]);
      const hostile = ["", "-x", "a b", "a/b/c", "UPPER.example.com/x", "é", `${"x".repeat(64)}`, "a\nb"];
      for (const key of hostile) expect(locsOf({ [field]: { [key]: "v" } }), key).toEqual([`${field}.${key}`]);
    },
  );

  const RESERVED = [
    "binnacle.dev/app",
    "binnacle.dev/component",
    "sub.binnacle.dev/anything",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/instance",
    "pod-security.kubernetes.io/enforce",
    "container.apparmor.security.beta.kubernetes.io/web",
    "topology.k8s.io/zone",
    "k8s.v1.cni.cncf.io/networks",
    "cni.projectcalico.org/ipAddrs",
  ];

  test.each(["labels", "annotations"])(
    "[AP100] keys that Binnacle, Kubernetes and network plugins use for pods are refused: %s",
    (field) => {
      for (const key of RESERVED) expect(locsOf({ [field]: { [key]: "x" } }), key).toEqual([`${field}.${key}`]);
      expect(messagesOf({ [field]: { "binnacle.dev/app": "other" } })[0]).toMatch(/reserved$/);
    },
  );

  test("[AP100] labels that controllers write onto pods are refused, and such annotations are not", () => {
    for (const key of ["pod-template-hash", "controller-revision-hash", "job-name", "controller-uid"]) {
      expect(locsOf({ labels: { [key]: "x" } })).toEqual([`labels.${key}`]);
      expect(locsOf({ annotations: { [key]: "x" } })).toEqual([]);
    }
  });

  test("[AP100] labels and annotations of a template may hold placeholders in their values", () => {
    const spec = {
      labels: { team: `\${team}` },
      annotations: { note: `by \${team}` },
      termination_grace_seconds: `\${s}`,
    };
    const template = {
      ...{ name: "t", namespace: "n", version: "1.0.0", scope: "organization", org_id: ID, parameters: [] },
      components: [{ name: "web", workload_spec: spec }],
    };
    expect(bodyProblems(createStackTemplate, template)).toEqual([]);
  });
});

describe("a security context", () => {
  test("[AP101] a security context says who runs the containers and whether their root file system is read-only", () => {
    expect(
      locsOf({ security_context: { run_as_user: 1000, run_as_non_root: true, read_only_root_filesystem: true } }),
    ).toEqual([]);
    expect(locsOf({ security_context: { run_as_user: 0 } })).toEqual([]);
    expect(locsOf({ security_context: { run_as_user: 0, run_as_non_root: true } })).toEqual([
      "security_context.run_as_user",
    ]);
  });

  test.each(["privileged", "capabilities", "allow_privilege_escalation", "seccomp_profile", "se_linux_options"])(
    "[AP101] a security context cannot ask for more rights: %s",
    (field) => {
      expect(locsOf({ security_context: { [field]: true } })).toEqual([`security_context.${field}`]);
    },
  );

  test.each([
    "host_network",
    "host_pid",
    "hostNetwork",
    "service_account",
    "serviceAccountName",
    "pod_spec",
    "host_path",
  ])("[AP101] a workload has no other field for its pods' rights than the security context: %s is unknown", (field) => {
    expect(locsOf({ [field]: "x" })).toEqual([field]);
    const volume = { name: "data", mount_path: "/data", size_gb: 1, [field]: "/" };
    expect(locsOf({ volumes: [volume] })).toEqual([`volumes.0.${field}`]);
  });
});

test("[AP102] the termination grace period of a pod is one second to an hour", () => {
  expect(locsOf({ termination_grace_seconds: 1 })).toEqual([]);
  expect(locsOf({ termination_grace_seconds: 3600 })).toEqual([]);
  for (const seconds of [0, -1, 3601, 1.5, "30"]) {
    expect(locsOf({ termination_grace_seconds: seconds }), String(seconds)).toEqual(["termination_grace_seconds"]);
  }
});

describe("tolerations", () => {
  const of = (...tolerations: object[]) => locsOf({ tolerations });

  test("[AP103] tolerations name a taint by its key", () => {
    expect(
      of({ key: "dedicated", value: "batch", effect: "NoSchedule" }, { key: "example.com/gpu", operator: "Exists" }),
    ).toEqual([]);
    expect(
      of({ key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", toleration_seconds: 5 }),
    ).toEqual([]);
    expect(of({ key: "dedicated", operator: "Exists", value: "x" })).toEqual(["tolerations.0.value"]);
    expect(of({ key: "dedicated", toleration_seconds: 5 })).toEqual(["tolerations.0.effect"]);
    expect(of({ key: "dedicated", effect: "NoSchedule", toleration_seconds: 5 })).toEqual(["tolerations.0.effect"]);
  });

  test("[AP103] tolerations reach no node of the control plane, neither by name nor by tolerating everything", () => {
    expect(of({ operator: "Exists" })).toEqual(["tolerations.0.key"]);
    expect(of({ key: "", operator: "Exists" })).toEqual(["tolerations.0.key"]);
    for (const key of [
      "node-role.kubernetes.io/control-plane",
      "node-role.kubernetes.io/master",
      "node-role.kubernetes.io/etcd",
      "CriticalAddonsOnly",
    ]) {
      expect(of({ key, operator: "Exists" }), key).toEqual(["tolerations.0.key"]);
    }
    expect(messagesOf({ tolerations: [{ key: "CriticalAddonsOnly" }] })[0]).toMatch(/^Nodes of the control plane/);
  });
});

describe("affinity and spread", () => {
  test("[AP104] node affinity compares labels as Kubernetes does", () => {
    const node = (requirement: object) => locsOf({ affinity: { node_affinity: { required: [requirement] } } });
    const at = "affinity.node_affinity.required.0";
    expect(node({ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] })).toEqual([]);
    expect(node({ key: "gpu", operator: "Exists" })).toEqual([]);
    expect(node({ key: "cores", operator: "Gt", values: ["8"] })).toEqual([]);
    expect(node({ key: "kubernetes.io/arch", operator: "In" })).toEqual([`${at}.values`]);
    expect(node({ key: "gpu", operator: "Exists", values: ["x"] })).toEqual([`${at}.values`]);
    expect(node({ key: "cores", operator: "Gt", values: ["many"] })).toEqual([`${at}.values.0`]);
    expect(node({ key: "cores", operator: "Lt", values: ["1", "2"] })).toEqual([`${at}.values`]);
  });

  test("[AP104] pod affinity names components of the app, and no other pods", () => {
    const web = (affinity: object) => [{ name: "web", workload_spec: { affinity } }, workload("cache")];
    expect(problemsOf(web({ pod_affinity: { required: [{ component: "cache" }, {}] } }))).toEqual([]);
    expect(problemsOf(web({ pod_anti_affinity: { preferred: [{ weight: 1, component: "db" }] } }))).toEqual([
      [
        "workload_spec.affinity.pod_anti_affinity.preferred.0.component",
        "Component web names db in workload_spec.affinity.pod_anti_affinity, but the app has no such component.",
      ],
    ]);
    for (const field of ["namespaces", "namespace_selector", "label_selector"]) {
      const [problem] = problemsOf(web({ pod_anti_affinity: { required: [{ [field]: {} }] } }));
      expect(problem?.[0]).toBe(`workload_spec.affinity.pod_anti_affinity.required.0.${field}`);
    }
  });

  test("[AP104] a topology spread names a topology once for each when_unsatisfiable", () => {
    const zone = { topology_key: "topology.kubernetes.io/zone" };
    expect(locsOf({ topology_spread: [zone, { ...zone, when_unsatisfiable: "DoNotSchedule" }] })).toEqual([]);
    expect(locsOf({ topology_spread: [zone, { ...zone, max_skew: 2 }] })).toEqual(["topology_spread.1.topology_key"]);
  });
});

describe("a daemonset", () => {
  test("[AP105] a daemonset has one pod on each node, so neither other replicas nor volumes", () => {
    expect(locsOf({ kind: "daemonset", image: "x", ports: [{ name: "http", port: 80 }] })).toEqual([]);
    expect(locsOf({ kind: "daemonset", replicas: 1 })).toEqual([]);
    expect(locsOf({ kind: "daemonset", replicas: 2 })).toEqual(["replicas"]);
    expect(locsOf({ kind: "daemonset", autoscale: { min: 1, max: 2, cpu_percent: 70 } })).toEqual(["autoscale"]);
    expect(locsOf({ kind: "daemonset", volumes: [{ name: "a", mount_path: "/a", size_gb: 1 }] })).toEqual(["volumes"]);
    expect(locsOf({ kind: "daemonset", schedule: "@daily" })).toEqual(["schedule"]);
  });
});

describe("classes", () => {
  const volume = (fields: object) =>
    locsOf({ volumes: [{ name: "data", mount_path: "/data", size_gb: 1, ...fields }] });
  const WRONG = ["", "Fast", "a..b", "-a", "a-", "a.-b", "a b", "a/b", "é", "a".repeat(254)];

  test("[AP3101] a volume has a storage class by name and an access mode of Kubernetes", () => {
    for (const storage_class of ["fast", "ebs.csi.example.com", "a".repeat(253)]) {
      expect(volume({ storage_class }), storage_class).toEqual([]);
    }
    for (const access_mode of ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"]) {
      expect(volume({ access_mode }), access_mode).toEqual([]);
    }
    for (const storage_class of WRONG) {
      expect(volume({ storage_class }), storage_class).toEqual(["volumes.0.storage_class"]);
    }
    for (const access_mode of ["ReadOnlyMany", "RWX", "", null]) {
      expect(volume({ access_mode }), String(access_mode)).toEqual(["volumes.0.access_mode"]);
    }
  });

  test("[AP3103] an ingress has a class by name", () => {
    const ingress = (name: string) =>
      locsOf({ ports: [{ name: "http", port: 80 }], ingress: { host: "a.example.com", class: name } });
    expect(ingress("nginx.internal")).toEqual([]);
    for (const name of WRONG) expect(ingress(name), name).toEqual(["ingress.class"]);
  });
});

describe("files", () => {
  const paths = (...list: string[]) => locsOf({ files: list.map((path) => ({ path, content: "" })) });

  test("[AP106] files have exactly one of content and secret, at an absolute path", () => {
    const good = ["/a", "/etc/app/config.yaml", "/root/.npmrc", "/srv/..data", "/etc/hosts.d/x", "/run/secretsx"];
    expect(paths(...good)).toEqual([]);
    expect(locsOf({ files: [{ path: "/a", secret: "TOKEN" }] })).toEqual([]);
    expect(locsOf({ files: [{ path: "/a" }] })).toEqual(["files.0"]);
    expect(locsOf({ files: [{ path: "/a", content: "", secret: "TOKEN" }] })).toEqual(["files.0"]);
    for (const path of ["", "/", "a", "./a", "/a/", "/a//b", "/a/../b", "/a/.", "/..", "/a:b", "/a b", "/a\nb", "/é"]) {
      expect(paths(path), path).toEqual(["files.0.path"]);
    }
  });

  test("[AP106] files cannot replace what the kubelet mounts", () => {
    for (const path of [
      ...[
        "/var/run/secrets",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "/run/secrets/x",
        "/proc/1/environ",
      ],
      ...["/sys/kernel/x", "/dev/null", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"],
    ]) {
      expect(paths(path), path).toEqual(["files.0.path"]);
    }
  });

  test("[AP106] files are neither the same, nor inside each other, nor in the way of a volume", () => {
    const volumes = (mount_path: string) => [{ name: "data", mount_path, size_gb: 1 }];
    const files = [{ path: "/data/app.yaml", content: "" }];
    expect(paths("/a", "/b", "/a")).toEqual(["files.2.path"]);
    expect(paths("/a/b", "/a", "/ab")).toEqual(["files.0.path"]);
    for (const mount of ["/data", "/data/", "/", "/data/app.yaml.d"]) {
      expect(locsOf({ files, volumes: volumes(mount) }), mount).toEqual([]);
    }
    for (const mount of ["/data/app.yaml", "/data//app.yaml/", "/data/app.yaml/x", "/data/x/../app.yaml"]) {
      expect(locsOf({ files, volumes: volumes(mount) }), mount).toEqual(["files.0.path"]);
    }
    const named = [{ name: "binnacle-files", mount_path: "/x", size_gb: 1 }];
    expect(locsOf({ files, volumes: named })).toEqual(["volumes.0.name"]);
    expect(locsOf({ volumes: named })).toEqual([]);
  });

  test("[AP106] files hold at most 256 KiB together, counted in bytes", () => {
    const of = (length: number) => [
      { path: "/a", content: "ü".repeat(length) },
      { path: "/b", content: "ü".repeat(65_536) },
    ];
    expect(locsOf({ files: of(65_536) })).toEqual([]);
    expect(locsOf({ files: of(65_537) })).toEqual(["files"]);
  });
});

describe("init containers and sidecars", () => {
  const of = (init_containers: object[], sidecars: object[] = []) => locsOf({ init_containers, sidecars });

  test("[AP107] init containers and sidecars have distinct names in the pod, an image, and the fields of a container", () => {
    const proxy = { name: "proxy", image: "envoy:1", command: ["a"], args: ["b"], resources: { limits: { cpu: "1" } } };
    expect(of([{ name: "migrate", image: "app:1" }], [proxy])).toEqual([]);
    expect(
      of(
        [
          { name: "a", image: "x" },
          { name: "a", image: "x" },
        ],
        [{ name: "a", image: "x" }],
      ),
    ).toEqual(["init_containers.1.name", "sidecars.0.name"]);
    expect(of([{ name: "a" }])).toEqual(["init_containers.0.image"]);
    expect(of([], [{ name: "a", image: "UPPER:::bad" }])).toEqual(["sidecars.0.image"]);
    for (const field of ["volume_mounts", "security_context", "privileged", "restart_policy", "ports", "probes"]) {
      expect(of([], [{ name: "a", image: "x", [field]: true }]), field).toEqual([`sidecars.0.${field}`]);
    }
  });

  test("[AP107] init containers and sidecars cannot have the name of the component's own container", () => {
    expect(of([{ name: "web", image: "x" }])).toEqual(["init_containers.0.name"]);
    expect(messagesOf({ sidecars: [{ name: "web", image: "x" }] })).toEqual([
      "Component web has a container web in workload_spec.sidecars, which is the name of the component's own container.",
    ]);
  });

  test("[AP107] init containers and sidecars have variables as the component has, whose references are checked alike", () => {
    const env = (component: string) => [{ name: "A", export_ref: { component, key: "url" } }];
    const a = { name: "a", workload_spec: { sidecars: [{ name: "x", image: "x", env: env("b") }] } };
    const b = { name: "b", workload_spec: { init_containers: [{ name: "x", image: "x", env: env("a") }] } };
    expect(problemsOf([a, b]).map(([loc]) => loc)).toEqual([
      "workload_spec.sidecars.0.env.0.export_ref.component",
      "workload_spec.init_containers.0.env.0.export_ref.component",
    ]);
    const twice = [
      {
        name: "x",
        image: "x",
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
    ];
    expect(of(twice)).toEqual(["init_containers.0.env.1.name"]);
    expect(of([{ name: "x", image: "x", env: [{ name: "A" }] }])).toEqual(["init_containers.0.env.0"]);
  });
});
