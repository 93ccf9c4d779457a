import { beforeEach, expect, test } from "vitest";
import { type AppWorld, appWorld, CALM, workload } from "./app-world.fixture.ts";

let world: AppWorld;
beforeEach(async () => {
  world = await appWorld();
  world.apps.start();
  return () => world.stop();
});

test("[AO604] a Deployment of somebody else with another selector is not changed, and made again once a person has deleted it", async () => {
  const labels = { mine: "yes" };
  const container = { name: "web", image: "nginx:1.29" };
  const metadata = { name: "shop-web", namespace: world.namespace };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const theirs = await world.client.create({ apiVersion: "apps/v1", kind: "Deployment", metadata, spec });
  await world.deploy([workload("web")], { take_over: true });
  await world.seen({ phase: "failed", reason: "ImmutableField" });
  const [{ report } = { report: null }] = world.reports.slice(-1);
  expect(report && "message" in report ? report.message : null).toContain(
    `kubectl delete deployment shop-web --namespace ${world.namespace}. Its pods are replaced, with a pause.`,
  );
  const uid = async () => (await world.get("apps/v1", "Deployment", "shop-web"))?.metadata.uid;
  expect(await uid()).toBe(theirs.metadata.uid);

  await world.client.delete(await world.client.resourceTypeOf("apps/v1", "Deployment"), "shop-web", world.namespace);
  // Nobody watches the objects of others, so the next look is that of an app that cannot go on.
  await world.seen(CALM, 60_000);
  expect(await uid()).not.toBe(theirs.metadata.uid);
});
