import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { refuseOtherMethods } from "./refusals.adapter.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge((app) => {
    app.get("/thing", async () => ({ is: "there" }));
    app.put("/thing", async () => ({}));
    refuseOtherMethods(app, "/thing", ["GET", "PUT"]);
    app.get("/broken", async () => {
      throw Object.assign(new Error("duplicate key"), { detail: "Key (email)=(ada@example.com)", statusCode: 409 });
    });
    app.get("/source", async (request) => ({ ip: request.ip }));
  });
});
afterAll(() => edge.app.close());

describe("a request that leads nowhere", () => {
  test.each([
    ["GET", "/nowhere", undefined],
    ["POST", "/", "{"],
    ["DELETE", "/thing/more", "x".repeat(5000)],
    ["OPTIONS", "/nowhere", undefined],
    ["GET", "/THING", undefined],
    ["GET", "//thing", undefined],
  ])("[ER2] the request %s %s to an unknown path is a 404, whatever its body is", async (method, path, body) => {
    const answer = await fetch(edge.url + path, { method, ...(body ? { body } : {}) });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe('{"detail":"Not Found"}');
    expect(answer.headers.get("x-request-id")).toMatch(UUID_V7);
  });

  test.each(["POST", "PATCH", "DELETE", "OPTIONS", "QUERY"])(
    "[ER3] the method %s on a path that has other methods is a 405 that names them, whatever its body is",
    async (method) => {
      const answer = await fetch(`${edge.url}/thing`, {
        method,
        headers: { "content-type": "text/strange" },
        body: "{",
      });
      expect(answer.status).toBe(405);
      expect(await answer.json()).toEqual({ detail: "Method Not Allowed" });
      expect(answer.headers.get("allow")).toBe("GET, HEAD, PUT");
      expect(answer.headers.get("x-request-id")).toMatch(UUID_V7);
    },
  );
});

describe("the forms of one request", () => {
  test("[CV15] a trailing slash makes no difference and leads to no redirect", async () => {
    const answer = await fetch(`${edge.url}/thing/`, { redirect: "error" });
    expect([answer.status, await answer.json()]).toEqual([200, { is: "there" }]);
  });

  test("[CV16] HEAD answers as GET does, without the body", async () => {
    const head = await fetch(`${edge.url}/thing`, { method: "HEAD" });
    const get = await fetch(`${edge.url}/thing`);
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const name of ["content-type", "content-length"]) expect(head.headers.get(name)).toBe(get.headers.get(name));
  });
});

test("[ER5] a 500 holds only its request id, and the log has the error under that id without the data", async () => {
  const answer = await fetch(`${edge.url}/broken`);
  const id = answer.headers.get("x-request-id");
  expect(answer.status).toBe(500);
  expect(await answer.text()).toBe(JSON.stringify({ detail: "Internal Server Error", request_id: id }));
  const line = edge.logged.find(({ msg, request_id }) => msg === "request failed" && request_id === id);
  expect(line).toMatchObject({ level: "error", err: { message: "duplicate key" } });
  expect(JSON.stringify(edge.logged)).not.toContain("ada@example.com");
});

test("[OP4] every answer has an id of its own, made by the server and not by the client", async () => {
  const ask = () => fetch(`${edge.url}/thing`, { headers: { "x-request-id": "mine", "request-id": "mine" } });
  const ids = (await Promise.all([ask(), ask()])).map((answer) => answer.headers.get("x-request-id") ?? "");
  for (const id of ids) expect(id).toMatch(UUID_V7);
  expect(new Set(ids).size).toBe(2);
});

describe("the headers that protect a browser", () => {
  test.each(["/thing", "/nowhere", "/broken"])("[OP10] headers that protect a browser come with %s", async (path) => {
    const { headers } = await fetch(edge.url + path);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "strict-transport-security": expect.stringContaining("max-age="),
      "content-security-policy": expect.stringContaining("default-src 'self'"),
    });
    expect(headers.has("x-powered-by")).toBe(false);
  });

  test("[OP14] no answer has headers about rate limits", async () => {
    const { headers } = await fetch(`${edge.url}/thing`);
    expect([...headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  });
});

describe("calls from another origin", () => {
  const preflight = { "access-control-request-method": "PATCH", "access-control-request-headers": "authorization" };
  const corsHeaders = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith("access-control-"));

  test("[OP11] calls from another origin are not allowed unless they are configured", async () => {
    const headers = { origin: "https://console.example.com" };
    expect(corsHeaders((await fetch(`${edge.url}/thing`, { headers })).headers)).toEqual([]);
    const asked = await fetch(`${edge.url}/thing`, { method: "OPTIONS", headers: { ...headers, ...preflight } });
    expect([asked.status, corsHeaders(asked.headers)]).toEqual([405, []]);
  });

  describe("where they are configured", () => {
    let open: Edge;
    beforeAll(async () => {
      const corsOrigins = ["https://console.example.com", "https://other.example.com"];
      open = await startEdge((app) => app.patch("/thing", async () => ({})), { corsOrigins });
    });
    afterAll(() => open.app.close());

    test.each(["https://console.example.com", "https://other.example.com"])("[OP12] %s is allowed", async (origin) => {
      const asked = await fetch(`${open.url}/thing`, { method: "OPTIONS", headers: { origin, ...preflight } });
      expect(asked.status).toBe(204);
      expect(asked.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST, PUT, PATCH, DELETE");
      expect(asked.headers.get("access-control-allow-headers")).toBe("authorization");
      const done = await fetch(`${open.url}/thing`, { method: "PATCH", headers: { origin } });
      for (const { headers } of [asked, done]) {
        expect(headers.get("access-control-allow-origin")).toBe(origin);
        expect(headers.get("access-control-allow-credentials")).toBe("true");
        expect(headers.get("vary")).toContain("Origin");
      }
      expect(done.headers.get("access-control-expose-headers")).toContain("X-Request-Id");
    });

    test.each([
      "https://evil.example.com",
      "http://console.example.com",
      "https://console.example.com.evil.com",
      "null",
    ])("[OP12] the origin %s is not allowed", async (origin) => {
      const asked = await fetch(`${open.url}/thing`, { method: "OPTIONS", headers: { origin, ...preflight } });
      expect(corsHeaders(asked.headers)).toEqual([]);
      const done = await fetch(`${open.url}/thing`, { method: "PATCH", headers: { origin } });
      expect(corsHeaders(done.headers)).toEqual([]);
    });
  });
});

describe("the address a request comes from", () => {
  const claim = { "x-forwarded-for": "203.0.113.7" };
  const seenBy = async (asked: Edge) =>
    (await (await fetch(`${asked.url}/source`, { headers: claim })).json()) as object;

  test("[OP13] the source address of a request is the connection's, whatever the request claims", async () => {
    expect(await seenBy(edge)).toEqual({ ip: "127.0.0.1" });
  });

  test.each([
    [["127.0.0.0/8"], "203.0.113.7"],
    [["10.0.0.1", "127.0.0.1"], "203.0.113.7"],
    [["10.0.0.0/8"], "127.0.0.1"],
  ])("[OP13] behind the trusted proxies %j the source address is %s", async (trustedProxies, ip) => {
    const behind = await startEdge((app) => app.get("/source", async (request) => ({ ip: request.ip })), {
      trustedProxies,
    });
    expect(await seenBy(behind)).toEqual({ ip });
    await behind.app.close();
  });
});
