import { expect, test } from "vitest";
import { defaultsOf } from "../defaults/kind-defaults.ts";
import { kubernetesSchema, typeNames } from "./kubernetes-schema.ts";
import { normalize, WrongType } from "./normalize.ts";
import { canonicalQuantity } from "./quantity.ts";

test.each([
  ["1000m", "1"],
  ["0.5", "500m"],
  [2, "2"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["0.5Ki", "512"],
  ["1e3", "1e3"],
  ["1500", "1500"],
  ["100k", "100k"],
  ["1000k", "1M"],
  ["0", "0"],
  ["-1500m", "-1500m"],
  ["0.0000000001", "1n"],
  ["x", null],
  ["1Xi", null],
  ["", null],
])("[SA21] the quantity %j is normalized to %j", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

const container = { name: "c", image: "nginx", resources: { limits: { cpu: 0.5, memory: "1024Mi" } } };
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", labels: {}, annotations: null },
  spec: {
    replicas: 0,
    minReadySeconds: 0,
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [container], hostNetwork: false, nodeSelector: {} },
    },
  },
};
const schema = kubernetesSchema("apps.v1.Deployment");

test("[SA21] empty values are dropped unless they mean something, and normalizing again changes nothing", () => {
  const once = normalize(schema, deployment, { defaultsOf });
  expect(once).toMatchObject({
    metadata: { name: "d" },
    spec: {
      replicas: 0,
      strategy: { type: "RollingUpdate" },
      template: {
        spec: {
          securityContext: {},
          containers: [{ imagePullPolicy: "Always", resources: { limits: { cpu: "500m", memory: "1Gi" } } }],
        },
      },
    },
    status: {},
  });
  const text = JSON.stringify(once);
  for (const gone of ["annotations", "minReadySeconds", "hostNetwork", "nodeSelector"])
    expect(text).not.toContain(gone);
  expect(normalize(schema, once, { defaultsOf })).toEqual(once);
});

test("[SA21] every type of Kubernetes is defaulted from an empty object, and defaulting again changes nothing", () => {
  for (const name of typeNames()) {
    const once = normalize(kubernetesSchema(name), {}, { defaultsOf });
    expect(normalize(kubernetesSchema(name), once, { defaultsOf }), name).toEqual(once);
  }
});

test("[SA20] unknown fields are left out and reported with their path", () => {
  const unknown: string[] = [];
  const given = {
    ...deployment,
    foo: 1,
    spec: { ...deployment.spec, template: { spec: { containers: [{ ...container, bar: 2 }] } } },
  };
  const normal = normalize(schema, given, { onUnknown: (path) => unknown.push(path) });
  expect(unknown.sort()).toEqual(["foo", "spec.template.spec.containers[0].bar"]);
  expect(normal).not.toHaveProperty("foo");
});

test.each([
  [{ spec: { replicas: "x" } }, "cannot unmarshal string into Go struct field spec.replicas of type int32"],
  [{ metadata: [] }, "cannot unmarshal array into Go struct field metadata of type object"],
  [{ spec: { paused: 1 } }, "of type bool"],
  [
    { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: "lots" } } }] } } } },
    "quantities must match",
  ],
])("[SA20] the object %j is refused for a wrong type", (given, why) => {
  expect(() => normalize(schema, given)).toThrow(WrongType);
  expect(() => normalize(schema, given)).toThrow(why);
});
