import { describe, expect, test } from "vitest";
import type { Planned } from "../kube/apply-set.adapter.ts";
import type { Step } from "../kube/apply-set.ts";
import { itemOf } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { settlementOf, standingOf, stillSettled } from "./unchanged-component.ts";

const object = (kind: string, resourceVersion?: string): KubeObject => ({
  apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
  kind,
  metadata: {
    name: "shop-web",
    namespace: "shop",
    ...(resourceVersion ? { uid: `uid of ${kind}`, resourceVersion } : {}),
  },
});
const wanted = { objects: [object("Deployment"), object("Service")], finishedJobs: new Set<string>() };
const live = [object("Deployment", "7"), object("Service", "3")];
const keep: Step = { action: "keep", isCertain: true };
const planned = (...steps: readonly Step[]): Planned[] =>
  wanted.objects.map((desired, at) => ({ desired, live: live[at] ?? null, isOwn: true, step: steps[at] ?? keep }));
const standing = standingOf(live, wanted);
const inventory = live.map(itemOf);
const seeing = (objects: readonly KubeObject[]) => ({
  inventory,
  seen: ({ kind }: KubeObject) => objects.find((one) => one.kind === kind) ?? null,
});

describe("a component whose objects have not changed", () => {
  test("[AO95] a component is not read again while all its objects have the versions at which they were as desired", () => {
    const settlement = settlementOf(planned(), wanted, standing) ?? undefined;
    expect(stillSettled(settlement, wanted, seeing(live))).toMatchObject(standing);
    expect(settlement?.main).toMatchObject({ kind: "Deployment", metadata: { uid: "uid of Deployment" } });
  });

  test.each([
    ["another version", seeing([object("Deployment", "8"), object("Service", "3")])],
    ["an object that is gone", seeing([object("Deployment", "7")])],
    ["an object that is not on record", { ...seeing(live), inventory: inventory.slice(1) }],
  ])("[AO95] a component is read again for %s", (_, found) => {
    const settlement = settlementOf(planned(), wanted, standing) ?? undefined;
    expect(stillSettled(settlement, wanted, found)).toBeNull();
  });

  test("[AO95] a component is read again when something else is desired of it", () => {
    const settlement = settlementOf(planned(), wanted, standing) ?? undefined;
    const other = { ...object("Service"), spec: { ports: [] } };
    expect(stillSettled(settlement, { ...wanted, objects: [object("Deployment"), other] }, seeing(live))).toBeNull();
    expect(stillSettled(settlement, { ...wanted, finishedJobs: new Set(["x"]) }, seeing(live))).toBeNull();
    expect(stillSettled(undefined, wanted, seeing(live))).toBeNull();
  });

  test.each<Step>([
    { action: "keep", isCertain: false },
    { action: "apply", isForced: false, drift: [] },
    { action: "wait", message: "It is leaving." },
  ])("[AO95] a component with an object to $action, or in doubt, is read at every look", (step) => {
    expect(settlementOf(planned(step), wanted, standing)).toBeNull();
  });
});
