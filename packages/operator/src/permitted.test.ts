import { expect, test } from "vitest";
import type { Answerer } from "./link/ports.ts";
import { permitted } from "./permitted.ts";

const answerer = {
  exec: async () => ({ pod: "web-0", container: "main" }),
  infrastructure: async () => ({ left: [] }),
} as unknown as Answerer;
const stream = {} as Parameters<Answerer["exec"]>[0];
const request = { name: "drain_nodes", nodes: [] as string[], timeout_seconds: 0 } as const;

test("[OC11] where the cluster permits no commands, the operator refuses them and names the value of its chart", async () => {
  const { exec, infrastructure } = permitted(answerer, { exec: "off", infrastructure: "on" });
  await expect(exec(stream)).rejects.toThrow("rbac.exec of the operator's chart");
  expect(await infrastructure(request)).toEqual({ left: [] });
});

test("[OC12] where the cluster does not let machines be cleared, the operator refuses and names the value of its chart", async () => {
  const { exec, infrastructure } = permitted(answerer, { exec: "on", infrastructure: "off" });
  await expect(infrastructure(request)).rejects.toThrow("rbac.infrastructure of the operator's chart");
  expect(await exec(stream)).toMatchObject({ pod: "web-0" });
});
