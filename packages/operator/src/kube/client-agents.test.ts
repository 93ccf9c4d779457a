import { expect, test } from "vitest";
import { createAgents } from "./client-agents.adapter.ts";

test("[KU5] another client certificate opens other connections, and the same certificate does not", async () => {
  const nobody = { token: null, certificate: null, key: null };
  const agents = createAgents({
    server: "https://127.0.0.1:1",
    ca: null,
    isInsecure: false,
    serverName: null,
    namespace: null,
    identity: async () => nobody,
  });
  const first = agents.of(nobody);
  expect(agents.of({ ...nobody, token: "another" })).toBe(first);
  const second = agents.of({ ...nobody, certificate: "C", key: "K" });
  expect(second.calls).not.toBe(first.calls);
  await agents.close();
  expect([first.calls.closed, first.streams.closed]).toEqual([true, true]);
  expect([second.calls.destroyed, second.streams.destroyed]).toEqual([true, true]);
});
