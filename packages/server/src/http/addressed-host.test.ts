import { connect } from "node:net";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { acceptedHosts } from "./addressed-host.ts";
import { type Edge, everything, parseAnswer, startEdge } from "./edge.fixture.ts";

const local = (env: Record<string, string> = {}) =>
  acceptedHosts(parseConfig({ BINNACLE_ALLOW_LOCAL_ON_NETWORK: "true", ...env }));

test.each([
  ["localhost", true],
  ["localhost:8080", true],
  ["LOCALHOST.:8080", true],
  ["shop.localhost:8080", true],
  ["127.0.0.1:8080", true],
  ["127.8.9.1", true],
  ["[::1]:8080", true],
  ["rebind.attacker.example:8080", false],
  ["localhost.attacker.example", false],
  ["127.0.0.1.attacker.example:8080", false],
  ["127.0.0.1@attacker.example", false],
  ["notlocalhost", false],
  ["192.168.1.7:8080", false],
  ["[fe80::1]:8080", false],
  ["0.0.0.0:8080", false],
  ["", false],
])("[OP64] a local server accepts the host %j: %s", (host, isTaken) => {
  expect(local()(host)).toBe(isTaken);
});

test("[OP64] a local server accepts the address that it listens on, and the host of its public address", () => {
  const accepts = local({ BINNACLE_HOST: "192.168.1.7", BINNACLE_PUBLIC_URL: "http://Lab.example:9000" });
  expect(["192.168.1.7:8080", "lab.example", "lab.example:9000", "localhost"].map(accepts)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["192.168.1.8:8080", "other.example", "sub.lab.example"].map(accepts)).toEqual([false, false, false]);
  expect(local({ BINNACLE_HOST: "::1" })("[::1]:8080")).toBe(true);
});

test.each(["0.0.0.0", "::"])(
  "[OP64] on all addresses, %s, a local server accepts any address and no further name",
  (host) => {
    const accepts = local({ BINNACLE_HOST: host });
    expect(["192.168.1.7:8080", "[2001:db8::7]:8080", "localhost:8080"].map(accepts)).toEqual([true, true, true]);
    expect(["attacker.example:8080", "host.docker.internal"].map(accepts)).toEqual([false, false]);
  },
);

test("[OP64] outside local every host is accepted, because proxies pass on names of their own", () => {
  const accepts = acceptedHosts({
    environment: "production",
    host: "127.0.0.1",
    publicUrl: "https://binnacle.example.com",
  });
  expect(accepts("internal.example:8080")).toBe(true);
});

describe("a local server that is reached by another name", () => {
  const NAME = "rebind.attacker.example:8080";
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  });
  afterAll(() => world.stop());

  /** Node's fetch takes no Host header. */
  async function get(path: string, host: string, more = ""): Promise<{ status: number; body: unknown }> {
    const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${more}connection: close\r\n\r\n`);
    const raw = await everything(socket);
    const status = Number(raw.split(" ")[1]);
    return { status, body: status === 421 ? parseAnswer(raw).body : null };
  }

  test("[OP64] a local server that is reached by another name answers with a 421 that says what to set", async () => {
    for (const path of ["/api/v1/version", "/api/v1/login", "/", "/docs", "/metrics", "/nowhere"]) {
      expect(await get(path, NAME, `authorization: Bearer ${world.admin.token}\r\n`)).toEqual({
        status: 421,
        body: { detail: expect.stringMatching(/set BINNACLE_PUBLIC_URL to the address that you use\.$/) },
      });
    }
    expect((await get("/api/v1/version", "localhost", `authorization: Bearer ${world.admin.token}\r\n`)).status).toBe(
      200,
    );
  });

  test("[OP65] a local server that is reached by another name still answers probes and the chart files", async () => {
    for (const path of ["/healthz", "/readyz", "/charts/index.yaml", "/charts/README.md"]) {
      expect((await get(path, NAME)).status).toBe(200);
    }
  });
});

describe("a request with two hosts", () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge((app) => app.get("/thing", async () => ({})));
  });
  afterAll(() => edge.app.close());

  test("[ER8] a request with two Host headers is refused, because a proxy may have used the other one", async () => {
    const raw = await edge.exchange("GET /thing HTTP/1.1\r\nHost: a\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(parseAnswer(raw)).toMatchObject({
      status: 400,
      body: { detail: "The request has more than one Host header." },
    });
  });
});
