import { expect, test } from "vitest";
import { startHealth } from "./health.adapter.ts";

test("[OL6] [OP3978] `/healthz` fails while a reconcile hangs, and `/readyz` while the operator is not ready", async () => {
  const facts = { alive: true, ready: false };
  const health = await startHealth(0, {
    isAlive: () => facts.alive,
    isReady: () => facts.ready,
    metrics: () => "metrics\n",
  });
  const answer = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
    return `${response.status} ${await response.text()}`;
  };
  expect([await answer("/healthz"), await answer("/readyz")]).toEqual(["200 ok\n", "503 not ready\n"]);
  Object.assign(facts, { alive: false, ready: true });
  expect([await answer("/healthz"), await answer("/readyz")]).toEqual(["503 a reconcile hangs\n", "200 ok\n"]);
  expect(await answer("/metrics")).toBe("200 metrics\n");
  expect(await answer("/other")).toBe("404 not found\n");
  await health.stop();
});
