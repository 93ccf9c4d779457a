import { LABELS, MANAGED_BY } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../../kube/kube-client.ts";
import { CLUSTER, idsOf, objectsOf, PROJECT, rendered, rendering, templateIn, workload } from "./rendered.fixture.ts";
import { isInvalid } from "./rendering.ts";
import { ADDON, addon, someComponents, someSecrets } from "./some-app.fixture.ts";

const instances = new Map([[ADDON, addon]]);
const someApp = someComponents.chain((components) =>
  fc.tuple(fc.constant(components), someSecrets(components), fc.boolean()),
);

/** A law about the objects of every app that becomes any. */
function law(holds: (objects: readonly KubeObject[]) => void): void {
  fc.assert(
    fc.property(someApp, ([components, secrets, paused]) => {
      const app = rendering(components, {
        secrets: secrets as Record<string, Record<string, string>>,
        paused,
        instances,
      });
      // Names that happen to come out the same are the one thing that can be wrong with these.
      if (isInvalid(app)) return expect(app.invalid).toBe("DuplicateName");
      holds(app.components.flatMap(({ objects }) => objects));
    }),
  );
}

test("[RN2] the same app is rendered to the same objects, whatever the order of its fields and inputs", () => {
  const web = workload("web", {
    env: [
      { name: "B", value: "1" },
      { name: "A", value: "2" },
    ],
    ports: [{ name: "http", port: 80 }],
  });
  const reversed = Object.fromEntries(Object.entries(web).reverse()) as typeof web;
  const secrets = { web: { X: "1", Y: "2" } };
  const other = { web: { Y: "2", X: "1" } };
  const one = rendered([web], { secrets, pullSecrets: ["a", "b"] });
  expect(JSON.stringify(rendered([reversed], { secrets: other, pullSecrets: ["b", "a", "b"] }))).toBe(
    JSON.stringify(one),
  );
});

test("[RN2] no object has an empty field, other than an empty text that the user has written", () => {
  const emptyIn = (value: unknown, path: string): string[] => {
    if (value === undefined || value === null) return [path];
    if (typeof value !== "object") return [];
    const inner = Object.entries(value);
    return inner.length === 0 ? [path] : inner.flatMap(([name, item]) => emptyIn(item, `${path}/${name}`));
  };
  law((objects) => expect(objects.flatMap((object) => emptyIn(object, object.kind))).toEqual([]));
});

test("[RN2] objects come in the order in which they can be applied", () => {
  const job = workload(
    "job",
    { kind: "job", volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }] },
    { depends_on: ["web"] },
  );
  const web = workload("web", {
    env: [{ name: "A", value: "1" }],
    ports: [{ name: "http", port: 80 }],
    ingress: { host: "shop.example.com" },
    autoscale: { min: 1, max: 2, cpu_percent: 50 },
  });
  const ids = idsOf(objectsOf([job, web], { secrets: { web: { KEY: "x" } } }));
  expect(ids.slice(0, 6)).toEqual([
    "ConfigMap/shop-web-env",
    "Secret/shop-web-secrets",
    "Service/shop-web",
    "Deployment/shop-web",
    "HorizontalPodAutoscaler/shop-web",
    "Ingress/shop-web",
  ]);
  expect(ids.slice(6)).toEqual([
    "ServiceAccount/shop-job",
    "PersistentVolumeClaim/shop-job-data",
    expect.stringMatching(/^Job\/shop-job-[0-9a-f]{8}$/),
  ]);
});

test("[RN3] every object and every pod carries labels that say to which cluster, project and app it belongs", () => {
  law((objects) => {
    for (const object of objects) {
      for (const labels of [object.metadata.labels, templateIn(object)?.metadata.labels]) {
        if (labels)
          expect(labels).toMatchObject({ [LABELS.cluster]: CLUSTER, [LABELS.project]: PROJECT, [LABELS.app]: "shop" });
      }
      expect(object.metadata).toMatchObject({ namespace: "market", labels: { [LABELS.managedBy]: MANAGED_BY } });
    }
  });
});

test("[RN3] labels name the app and the component, and the selector holds nothing that could change", () => {
  const [deployment] = objectsOf([workload("web")]);
  const selector = { "binnacle.dev/app": "shop", "binnacle.dev/component": "web" };
  const labels = {
    "app.kubernetes.io/name": "web",
    "app.kubernetes.io/instance": "shop-web",
    "app.kubernetes.io/component": "web",
    "app.kubernetes.io/part-of": "shop",
    "app.kubernetes.io/managed-by": "binnacle",
    "binnacle.dev/cluster": CLUSTER,
    "binnacle.dev/project": PROJECT,
    ...selector,
  };
  expect(deployment?.metadata.labels).toEqual(labels);
  expect(deployment?.["spec"]).toMatchObject({
    selector: { matchLabels: selector },
    template: { metadata: { labels } },
  });
});

test("[RN24] components come in the order of their waves, with what they need", () => {
  const app = rendered([workload("web", {}, { depends_on: ["db"] }), workload("db"), workload("log")]);
  expect(app.components.map(({ name, wave, needs }) => ({ name, wave, needs }))).toEqual([
    { name: "db", wave: 0, needs: [] },
    { name: "log", wave: 0, needs: [] },
    { name: "web", wave: 1, needs: ["db"] },
  ]);
});
