import { ANNOTATIONS, type AppReport } from "@binnacle/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fieldsIn, listIn, specOf, statusOf } from "../kube/object-fields.ts";
import { APPS } from "../kube/resource-types.ts";
import { type Reconciler, reconcilerFor } from "../reconcile/kind.reconciler.ts";
import { appKind } from "./app-kind.reconciler.ts";
import { type AppWorld, appWorld, workload } from "./app-world.fixture.ts";

const NAMES = ["one", "two", "three"];
const COMPONENTS = [workload("web", { env: [{ name: "A", value: "1" }] })];

let world: AppWorld;
let next: Reconciler;
/** What the next operator has said and reported, in order. */
let said: string[];

beforeEach(async () => {
  world = await appWorld();
  world.apps.start();
  said = [];
  const keep = ({ key }: { key?: string }, message: string) => void said.push(`${key?.split("/").at(-1)}: ${message}`);
  next = reconcilerFor(appKind, {
    ...world.ports,
    version: "2.0.0",
    appsAtOnce: 1,
    log: { info: keep, warn: keep },
    sink: {
      report(_kind: string, { key }: { key: string }, report: unknown) {
        const { phase, drift } = report as AppReport;
        said.push(`${key.split("/").at(-1)}: ${phase}, ${drift?.state}`);
      },
    },
  });
});
afterEach(async () => {
  await next.stop();
  await world.stop();
});

const statusIn = async (name: string) => {
  const app = await world.client.get(APPS, name, world.namespace);
  const status = app ? statusOf(app) : {};
  const [component = {}] = listIn(status["components"]);
  return { phase: status["phase"], rendering: component["rendering"] };
};
const secondsOf = async (name: string): Promise<unknown> => {
  const deployment = await world.get("apps/v1", "Deployment", `${name}-web`);
  return deployment && fieldsIn(fieldsIn(specOf(deployment)["template"])["spec"])["terminationGracePeriodSeconds"];
};

/** The Deployment as an operator with another rendering has applied it. */
async function renderOtherwise(name: string): Promise<void> {
  const live = await world.get("apps/v1", "Deployment", `${name}-web`);
  if (!live) throw new Error(`There is no Deployment of ${name}.`);
  const { labels = {}, namespace = "" } = live.metadata;
  const template = fieldsIn(specOf(live)["template"]);
  const pods = { ...fieldsIn(template["spec"]), terminationGracePeriodSeconds: 31 };
  const spec = { ...specOf(live), template: { ...template, spec: pods } };
  const annotations = { [ANNOTATIONS.hash]: "other" };
  const metadata = { name: live.metadata.name, namespace, labels, annotations };
  await world.client.apply({ apiVersion: live.apiVersion, kind: live.kind, metadata, spec }, { force: true });
}

test("[AO600][AO601][AO602] what a new version renders otherwise reaches one app after the other, each once the one before runs", async () => {
  for (const app of NAMES) await world.deploy(COMPONENTS, { app });
  const running = { phase: "running", rendering: "1.0.0" };
  await vi.waitFor(async () => expect(await Promise.all(NAMES.map(statusIn))).toEqual([running, running, running]), {
    timeout: 60_000,
  });
  await world.apps.stop();
  for (const name of NAMES) await renderOtherwise(name);

  next.start();
  const done = { phase: "running", rendering: "2.0.0" };
  await vi.waitFor(async () => expect(await Promise.all(NAMES.map(statusIn))).toEqual([done, done, done]), {
    timeout: 90_000,
  });
  expect(await Promise.all(NAMES.map(secondsOf))).toEqual([30, 30, 30]);
  const begins = said.flatMap((line, at) => (line.endsWith("replaces the pods of an app") ? [at] : []));
  expect(begins).toHaveLength(3);
  expect(said.filter((line) => line.includes("waits for its turn")).length).toBeGreaterThanOrEqual(2);
  for (const [at, begin] of begins.slice(1).entries()) {
    const [before = ""] = (said[begins[at] ?? 0] ?? "").split(":");
    expect(said.slice(begins[at], begin), said.join("\n")).toContain(`${before}: running, in_sync`);
  }
});

test("[AO600][AO601] an app that waits runs as it is, and a new generation of it does not wait", async () => {
  const [first = "", second = ""] = NAMES;
  for (const app of [first, second]) await world.deploy(COMPONENTS, { app });
  const running = { phase: "running", rendering: "1.0.0" };
  for (const app of [first, second])
    await vi.waitFor(async () => expect(await statusIn(app)).toEqual(running), { timeout: 60_000 });
  await world.apps.stop();
  for (const app of [first, second]) await renderOtherwise(app);

  const key = (app: string) => `app/${world.namespace}/${app}`;
  await next.reconcile(key(first));
  expect(await secondsOf(first)).toBe(30);
  const held = async () => {
    await next.reconcile(key(second));
    expect(said.at(-1)).toBe(`${second}: running, in_sync`);
  };
  await vi.waitFor(held, { timeout: 30_000 });
  expect(await statusIn(second)).toEqual(running);
  expect(await secondsOf(second)).toBe(31);

  await world.deploy([workload("web", { env: [{ name: "A", value: "2" }] })], { app: second });
  await next.reconcile(key(second));
  expect(await secondsOf(second)).toBe(30);
});
