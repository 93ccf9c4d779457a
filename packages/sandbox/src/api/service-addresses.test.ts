import { expect, test } from "vitest";
import type { KubeObject } from "../store/kube-object.ts";
import { bareCluster } from "./http/bare-cluster.fixture.ts";

type Spec = Readonly<Record<string, unknown>> & { readonly ports?: readonly { readonly nodePort?: number }[] };

const specOf = (service: KubeObject | null) => (service?.["spec"] ?? {}) as Spec;
const draft = (name: string, spec: object) => ({ metadata: { name, namespace: "shop" }, spec });
const PORT = { port: 80, protocol: "TCP" };

test("[SA26] Services get addresses and node ports of their own, and headless Services get none", () => {
  const { store } = bareCluster();
  const specs = ["a", "b"].map((name) =>
    specOf(store.create("services", draft(name, { type: "NodePort", ports: [PORT] }))),
  );
  expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(2);
  expect(new Set(specs.map(({ ports }) => ports?.[0]?.nodePort)).size).toBe(2);
  for (const { clusterIP, clusterIPs, ports } of specs) {
    expect(clusterIP).toMatch(/^10\.96\./);
    expect(clusterIPs).toEqual([clusterIP]);
    expect(ports?.[0]?.nodePort).toBeGreaterThanOrEqual(30_000);
  }
  const headless = specOf(
    store.create("services", draft("c", { clusterIP: "None", selector: { app: "c" }, ports: [PORT] })),
  );
  expect(headless).toMatchObject({ clusterIP: "None", ipFamilyPolicy: "SingleStack" });
  const external = specOf(store.create("services", draft("d", { type: "ExternalName", externalName: "example.com" })));
  expect(external).not.toHaveProperty("clusterIP");
});

test("[SA26] an update of a Service that leaves out its address and node ports keeps them", () => {
  const { store } = bareCluster();
  const before = specOf(store.create("services", draft("a", { type: "NodePort", ports: [PORT] })));
  const next = {
    type: "NodePort",
    ports: [PORT, { port: 443, protocol: "TCP", name: "tls" }].map((port, at) => ({ name: `p${at}`, ...port })),
  };
  store.patch("services", "a", "shop", { spec: next });
  const after = specOf(store.get("services", "a", "shop"));
  expect(after["clusterIP"]).toBe(before["clusterIP"]);
  expect(after.ports?.[0]?.nodePort).toBe(before.ports?.[0]?.nodePort);
  expect(after.ports?.[1]?.nodePort).not.toBe(after.ports?.[0]?.nodePort);
});
