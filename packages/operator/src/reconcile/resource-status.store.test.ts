import { type AppReport, UNKNOWN_DRIFT } from "@binnacle/contract";
import { expect, test, vi } from "vitest";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { APPS } from "../kube/resource-types.ts";
import { createResourceStatus } from "./resource-status.store.ts";

const KEY = "app/shop/web";
const error = (status: number, cause?: string) =>
  new KubeError({ status, reason: "x", message: "no", details: { causes: cause ? [{ reason: cause }] : [] } });

/** An app whose status is written by what is tested and by nobody else. */
function world() {
  let nowMs = Date.parse("2026-03-01T12:00:00.000Z");
  const log = { info: vi.fn(), warn: vi.fn() };
  let holder: KubeObject = {
    apiVersion: "binnacle.dev/v1alpha1",
    kind: "App",
    metadata: { name: "web", namespace: "shop", uid: "u1" },
  };
  const patchStatus = vi.fn(async (...[, , , status]: Parameters<KubeClient["patchStatus"]>): Promise<never> => {
    holder = { ...holder, status: { ...(holder["status"] as object), ...status } };
    return holder as never;
  });
  const create = vi.fn(async (event: KubeObject): Promise<never> => event as never);
  const status = createResourceStatus({ kube: { patchStatus, create }, log, nowMs: () => nowMs }, { holder: APPS });
  return {
    log,
    patchStatus,
    create,
    forget: () => status.forget(KEY),
    pass: (ms: number) => {
      nowMs += ms;
    },
    see: (phase: AppReport["phase"], reason: string, message: string | null = null) => {
      const report: AppReport = { phase, reason, message, components: [], drift: UNKNOWN_DRIFT };
      return status.write(KEY, { holder, observedGeneration: 1, report, fields: { generation: 3 } });
    },
    reasons: () => create.mock.calls.map(([event]) => event["reason"]),
  };
}

test("[OD50] [OD52] each change of phase or reason is one write and one event, and what stays the same is neither", async () => {
  const { see, reasons, patchStatus, pass } = world();
  await see("deploying", "RollingOut", "web: 0 of 2");
  await see("deploying", "RollingOut", "web: 1 of 2");
  pass(60_000);
  expect(await see("deploying", "RollingOut", "web: 1 of 2")).toBeNull();
  expect(await see("running", "RolloutComplete")).toMatchObject({ status: { phase: "running", generation: 3 } });
  for (let looks = 0; looks < 5; looks += 1) {
    pass(180_000);
    await see("running", "RolloutComplete");
  }
  expect(patchStatus).toHaveBeenCalledTimes(3);
  expect(reasons()).toEqual(["RollingOut", "RolloutComplete"]);
  await see("deploying", "RollingOut");
  expect(reasons()).toHaveLength(3);
});

test("[OD53] an app whose state comes and goes has few events, and its status all the same", async () => {
  const { see, create, patchStatus, pass } = world();
  for (let turns = 0; turns < 50; turns += 1) {
    await see("running", "RolloutComplete");
    await see("degraded", "CrashLoopBackOff");
  }
  expect(patchStatus).toHaveBeenCalledTimes(100);
  expect(create).toHaveBeenCalledTimes(25);
  expect(new Set(create.mock.calls.map(([event]) => event.metadata.name)).size).toBe(25);
  pass(300_000);
  await see("running", "RolloutComplete");
  expect(create.mock.lastCall?.[0]["message"]).toMatch(/^\(75 changes before this one have no event\.\)/);
});

test("[OD53] an event that cannot be written disturbs nothing, and a right that is missing is logged once", async () => {
  const { see, create, log } = world();
  create.mockRejectedValue(error(403));
  expect(await see("deploying", "RollingOut")).not.toBeNull();
  expect(await see("running", "RolloutComplete")).not.toBeNull();
  expect(log.warn).toHaveBeenCalledTimes(1);
  create.mockRejectedValue(error(403, "NamespaceTerminating"));
  await see("deleting", "Deleting");
  create.mockRejectedValue(error(500));
  await see("deleting", "HeldByFinalizers");
  expect(log.warn).toHaveBeenCalledTimes(2);
});

test("[OD50] a status of a custom resource that is gone is nobody's, and any other failure is that of the run", async () => {
  const { see, create, patchStatus } = world();
  patchStatus.mockRejectedValueOnce(error(404));
  expect(await see("running", "RolloutComplete")).toBeNull();
  patchStatus.mockRejectedValueOnce(error(500));
  await expect(see("running", "RolloutComplete")).rejects.toThrow("no");
  expect(create).not.toHaveBeenCalled();
});
