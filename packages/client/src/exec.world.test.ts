import * as contract from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test, vi } from "vitest";
import { simulateOperator } from "../../../test/world/simulated-operator.ts";
import { errorFrom } from "./client.fixture.ts";
import { createClient } from "./index.ts";

const world = await startWorld();
const client = createClient({ url: world.url, session: {} });
await client.login({ username: "admin", password: world.admin.password });
const cluster = await client.call("createCluster", { org_id: world.demoOrgId, body: { name: "edge" } });
const project = await client.call("createProject", { body: { name: "shop", cluster_id: cluster.id } });
const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
await client.call("createApp", { body: { name: "storefront", project_id: project.id, components } });
const place = { namespace: "shop", name: "storefront", project_id: project.id, component: "web" };
const operator = simulateOperator({ url: world.url, token: cluster.connection_token ?? "" });
await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
afterAll(async () => {
  await operator.stop();
  await world.stop();
});

function collected() {
  const text = { stdout: "", stderr: "" };
  const onOutput = (channel: "stdout" | "stderr", data: Uint8Array) => {
    text[channel] += new TextDecoder().decode(data);
  };
  return { text, onOutput };
}

test("[CN30] a command runs through the client, which returns its output and exit code", async () => {
  const { text, onOutput } = collected();
  const session = await client.exec({ ...place, command: ["end", "3"], tty: false }, { onOutput });
  expect(await session.exited).toBe(3);
  expect(text).toEqual({ stdout: "hello\n", stderr: "oops\n" });
});

test("[CN30] input of any size reaches a command, and so does its end", async () => {
  const { text, onOutput } = collected();
  const session = await client.exec({ ...place, command: ["cat"], tty: false }, { onOutput });
  const sent = "0123456789".repeat(50_000);
  await session.write(sent);
  session.end();
  expect(await session.exited).toBe(0);
  expect(text.stdout).toBe(sent);
});

test("[CN30] the terminal of a command has a size, at first and later", async () => {
  const { text, onOutput } = collected();
  const session = await client.exec({ ...place, command: ["size"], cols: 120, rows: 40 }, { onOutput });
  await vi.waitFor(() => expect(text.stdout).toBe("40 120\n"));
  session.resize({ cols: 100, rows: 30 });
  await vi.waitFor(() => expect(text.stdout).toContain("30 100\n"));
  session.close();
  await errorFrom(session.exited);
});

test("[CN31] a refused command is the error that any call would have, and so is what ends a session", async () => {
  const { onOutput } = collected();
  const missing = await errorFrom(client.exec({ ...place, pod: "other-0" }, { onOutput }));
  expect(missing).toMatchObject({ name: "NotFound", message: "The component web has no pod other-0." });
  const nobody = createClient({ url: world.url, token: "bnc_nope" });
  expect(await errorFrom(nobody.exec(place, { onOutput }))).toMatchObject({ name: "Unauthenticated" });
  const failed = await client.exec({ ...place, command: ["missing"] }, { onOutput });
  expect(await errorFrom(failed.exited)).toMatchObject({ name: "ServerFault", message: "exec: missing: not found" });
});

test("[CN31] the caller leaves a command with a signal", async () => {
  const { onOutput } = collected();
  const leaving = new AbortController();
  const session = await client.exec({ ...place, command: ["cat"] }, { onOutput, signal: leaving.signal });
  leaving.abort(new Error("enough"));
  expect(await errorFrom(session.exited)).toMatchObject({ message: "enough" });
});

test("[CN30] the client speaks the protocol of the contract, with its token as a subprotocol", async () => {
  const offered: string[][] = [];
  class Recorded extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      offered.push(protocols);
    }
  }
  const own = createClient({ url: world.url, token: world.admin.token, WebSocket: Recorded as never });
  const { onOutput } = collected();
  const session = await own.exec({ ...place, command: ["end", "0"] }, { onOutput });
  await session.exited;
  expect(offered).toEqual([[contract.EXEC_SUBPROTOCOL, contract.EXEC_BEARER_PREFIX + world.admin.token]]);
});
