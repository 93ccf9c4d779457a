import { type Case, dry, lease, named, patch, post, service } from "./conformance-case.fixture.ts";

/** The other kinds. */
export const KIND_CASES: readonly Case[] = [
  post(
    "a Service, by its defaults",
    "services",
    201,
    service("stays", { ports: [{ port: 80 }], selector: { a: "b" } }),
  ),
  patch("another address of a Service", "services/stays", 422, { spec: { clusterIP: "10.96.9.9" } }),
  patch("another port of a Service", "services/stays", 200, { spec: { ports: [{ port: 81, targetPort: "http" }] } }),
  post(
    "a Service without an address",
    `services${dry}`,
    201,
    service("x", { clusterIP: "None", ports: [{ port: 80 }] }),
  ),
  post(
    "a Service that is only a name",
    `services${dry}`,
    201,
    service("x", { type: "ExternalName", externalName: "a.b" }),
  ),
  post("a Service without ports", "services", 422, service("x", {})),
  post(
    "a Service with ports that have no names",
    "services",
    422,
    service("x", { type: "Foo", ports: [{ port: 80 }, { port: 81 }] }),
  ),

  post(
    "a claim, by its defaults",
    `persistentvolumeclaims${dry}`,
    201,
    named("PersistentVolumeClaim", "x", {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
    }),
  ),
  post("a claim of nothing", "persistentvolumeclaims", 422, named("PersistentVolumeClaim", "x", { spec: {} })),
  post(
    "an autoscaler, by its defaults",
    `horizontalpodautoscalers.autoscaling${dry}`,
    201,
    named(
      "HorizontalPodAutoscaler",
      "x",
      {
        spec: {
          maxReplicas: 3,
          behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        },
      },
      "autoscaling/v2",
    ),
  ),
  post(
    "an autoscaler of nothing",
    `horizontalpodautoscalers.autoscaling${dry}`,
    422,
    named(
      "HorizontalPodAutoscaler",
      "x",
      { spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: {} } },
      "autoscaling/v2",
    ),
  ),
  post(
    "an Ingress",
    `ingresses.networking.k8s.io${dry}`,
    201,
    named(
      "Ingress",
      "x",
      {
        spec: {
          rules: [
            {
              host: "a.b",
              http: {
                paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
              },
            },
          ],
        },
      },
      "networking.k8s.io/v1",
    ),
  ),
  post(
    "an Ingress for no host",
    `ingresses.networking.k8s.io${dry}`,
    422,
    named(
      "Ingress",
      "x",
      {
        spec: {
          rules: [
            {
              host: "a_b",
              http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] },
            },
          ],
        },
      },
      "networking.k8s.io/v1",
    ),
  ),
  post(
    "a NetworkPolicy, by its defaults",
    `networkpolicies.networking.k8s.io${dry}`,
    201,
    named(
      "NetworkPolicy",
      "x",
      { spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } },
      "networking.k8s.io/v1",
    ),
  ),
  post(
    "a disruption budget",
    `poddisruptionbudgets.policy${dry}`,
    201,
    named(
      "PodDisruptionBudget",
      "x",
      { spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
      "policy/v1",
    ),
  ),
  post(
    "a RoleBinding, by its defaults",
    `rolebindings.rbac.authorization.k8s.io${dry}`,
    201,
    named(
      "RoleBinding",
      "x",
      { roleRef: { kind: "Role", name: "x" }, subjects: [{ kind: "User", name: "x" }] },
      "rbac.authorization.k8s.io/v1",
    ),
  ),
  post("a service account", `serviceaccounts${dry}`, 201, named("ServiceAccount", "x")),
  post("a lease", `leases.coordination.k8s.io${dry}`, 201, lease({ holderIdentity: "me", leaseDurationSeconds: 15 })),
  post("a lease that is over at once", `leases.coordination.k8s.io${dry}`, 422, lease({ leaseDurationSeconds: 0 })),
  post(
    "a secret with texts",
    `secrets${dry}`,
    201,
    named("Secret", "x", { stringData: { a: "b" }, data: { c: "ZA==" } }),
  ),
  post(
    "a secret without what its type needs",
    "secrets",
    422,
    named("Secret", "x", { type: "kubernetes.io/dockerconfigjson" }),
  ),
  post("a secret that is sealed", "secrets", 201, named("Secret", "sealed", { immutable: true })),
  patch("a change of what is sealed", "secrets/sealed", 422, { type: "foo", data: { a: "ZA==" } }),
];
