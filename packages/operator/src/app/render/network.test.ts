import { describe, expect, test } from "vitest";
import { idsOf, objectAt, objectsOf, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const one = (spec: Workload) => objectsOf([workload("web", spec)]);
const PORTS: NonNullable<Workload["ports"]> = [
  { name: "dns", port: 53, protocol: "UDP" },
  { name: "http", port: 8080 },
  { name: "admin", port: 9090 },
];

describe("ports", () => {
  test.each(["deployment", "statefulset"] as const)("[RN9] a %s serves its ports under their own numbers", (kind) => {
    expect(objectAt(one({ kind, ports: PORTS }), "Service/shop-web")["spec"]).toEqual({
      type: "ClusterIP",
      selector: { "binnacle.dev/app": "shop", "binnacle.dev/component": "web" },
      ports: [
        { name: "dns", port: 53, targetPort: 53, protocol: "UDP" },
        { name: "http", port: 8080, targetPort: 8080, protocol: "TCP" },
        { name: "admin", port: 9090, targetPort: 9090, protocol: "TCP" },
      ],
    });
  });

  test("[RN9] the ports of a Job or CronJob are not served, and without ports there is no Service", () => {
    const specs: Workload[] = [
      { kind: "job", ports: PORTS },
      { kind: "cronjob", schedule: "@daily", ports: PORTS },
      {},
    ];
    for (const spec of specs) expect(idsOf(one(spec)).filter((id) => id.startsWith("Service/"))).toEqual([]);
  });
});

describe("an ingress", () => {
  const ingress = (given: Omit<NonNullable<Workload["ingress"]>, "host">) =>
    objectAt(one({ ports: PORTS, ingress: { host: "shop.example.com", ...given } }), "Ingress");

  test("[RN10] an ingress leads from its host and path to the first TCP port", () => {
    expect(ingress({})["spec"]).toEqual({
      rules: [
        {
          host: "shop.example.com",
          http: {
            paths: [
              { path: "/", pathType: "Prefix", backend: { service: { name: "shop-web", port: { number: 8080 } } } },
            ],
          },
        },
      ],
    });
  });

  test("[RN10] an ingress leads to the port that it names", () => {
    expect(ingress({ port: 9090, path: "/admin" })["spec"]).toMatchObject({
      rules: [{ http: { paths: [{ path: "/admin", backend: { service: { port: { number: 9090 } } } }] } }],
    });
  });

  test("[RN39] the class of an ingress is that of the component, and without one the cluster chooses", () => {
    expect(ingress({ class: "internal" })["spec"]).toMatchObject({ ingressClassName: "internal" });
    expect(ingress({})["spec"]).not.toHaveProperty("ingressClassName");
  });

  test("[RN10] an ingress with TLS asks for a certificate", () => {
    const { metadata, spec } = ingress({ tls: true });
    expect(metadata.annotations).toEqual({ "kubernetes.io/tls-acme": "true" });
    expect(spec).toMatchObject({ tls: [{ hosts: ["shop.example.com"], secretName: "shop-web-tls" }] });
    expect(ingress({ tls: false }).metadata).not.toHaveProperty("annotations");
  });
});
