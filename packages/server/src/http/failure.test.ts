import { CONFLICT_CODES } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codedConflict, Fault, invalid, invalidValue, rateLimited, readableItems, unauthenticated } from "../fault.ts";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { faultOf, STATUS_OF } from "./failure.ts";

const failing = (error: Error) => startEdge((app) => app.get("/fails", async () => Promise.reject(error)));

async function answerTo(error: Error): Promise<{ status: number; headers: Headers; body: unknown }> {
  const edge: Edge = await failing(error);
  const answer = await fetch(`${edge.url}/fails`);
  const { status, headers } = answer;
  const body = await answer.json();
  await edge.app.close();
  return { status, headers, body };
}

describe("a list of invalid fields", () => {
  const LARGEST_BYTES = 64 * 1024;
  const item = (loc: (string | number)[], msg = "Field required") => ({ loc, msg, type: "missing" as const });
  const bodyBytes = (items: ReturnType<typeof item>[]) =>
    Buffer.byteLength(JSON.stringify({ detail: invalid(items).detail }));

  test("[ER20] a short list of invalid fields is returned as it was found", () => {
    const items = [item(["body", "components", 0, "name"]), item(["body", "x".repeat(256)])];
    expect(readableItems(items)).toEqual(items);
  });

  test("[ER20] a list of invalid fields has the first hundred, in at most 64 KiB, whatever names people write", () => {
    const steps = fc.array(
      fc.oneof(fc.nat(), fc.constantFrom("a", "\u0001".repeat(400), "名".repeat(90_000), "x".repeat(300))),
      {
        maxLength: 70,
      },
    );
    const items = fc.array(fc.tuple(steps, fc.constantFrom("short", "long ".repeat(900))), {
      minLength: 1,
      maxLength: 150,
    });
    fc.assert(
      fc.property(items, (given) => {
        const all = given.map(([loc, msg]) => item(["body", ...loc], msg));
        const readable = readableItems(all);
        expect(readable.length).toBeGreaterThanOrEqual(1);
        expect(readable.length).toBeLessThanOrEqual(100);
        expect(bodyBytes(all)).toBeLessThanOrEqual(LARGEST_BYTES);
      }),
      { numRuns: 50 },
    );
  });

  test("[ER20] a list of invalid fields cuts long text, and shortens a location that is far inside", () => {
    expect(readableItems([item(["body", "x".repeat(300)], "m".repeat(2000))])).toEqual([
      item(["body", `${"x".repeat(256)}…`], `${"m".repeat(1000)}…`),
    ]);
    const [far] = readableItems([item(["body", ...Array.from({ length: 66 }, () => "\u0001".repeat(300))])]);
    expect(far?.loc[0]).toBe("body");
    expect(far?.loc.length).toBeLessThan(66);
  });
});

describe("the answer to a failure", () => {
  test("[ER1] the answer to a fault has the status of its kind and a sentence", async () => {
    expect(await answerTo(new Fault("gone", "This was removed."))).toMatchObject({
      status: 410,
      body: { detail: "This was removed." },
    });
  });

  test("[ER1] the answer to invalid values lists the fields", async () => {
    expect(await answerTo(invalidValue(["body", "parameters", "size"], "Too big"))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "parameters", "size"], msg: "Too big", type: "value_error" }] },
    });
  });

  test("[ER1] the answer to a fault has a body of its own where a standard prescribes one", async () => {
    const fault = new Fault("bad_request", "Not yet.", { body: { error: "authorization_pending" } });
    expect(await answerTo(fault)).toMatchObject({ status: 400, body: { error: "authorization_pending" } });
  });

  test("[ER4] a 401 challenges for a bearer token, with the same words whatever is wrong with the credential", async () => {
    const { status, headers, body } = await answerTo(unauthenticated());
    expect([status, body, headers.get("www-authenticate")]).toEqual([
      401,
      { detail: "User not authenticated." },
      "Bearer",
    ]);
  });

  test("[ER12] a 429 says when to try again", async () => {
    const { status, headers, body } = await answerTo(rateLimited(17));
    expect([status, body, headers.get("retry-after")]).toEqual([429, { detail: "Rate limit exceeded." }, "17"]);
  });

  test.each(CONFLICT_CODES)("[ER14] a 409 carries the code %s, a sentence and what it is about", async (code) => {
    const fault = codedConflict(code, "Not now.", { component: "web" });
    expect(await answerTo(fault)).toMatchObject({
      status: 409,
      body: { detail: { code, message: "Not now.", component: "web" } },
    });
  });

  test.each([
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
    Object.assign(new Error("the database system is shutting down"), { code: "57P01" }),
    new Error("Connection terminated unexpectedly"),
  ])("[ER10] a request is answered with a 503 and Retry-After when the database is away: %s", async (error) => {
    const { status, headers, body } = await answerTo(error);
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(body).toEqual({ detail: "The database cannot be reached. Try again in a moment." });
  });
});

test("[DB600] while the built-in database does not run because its disk is full, a lost connection is answered with the full disk", () => {
  const lost = Object.assign(new Error("connect ENOENT"), { code: "ENOENT" });
  expect(faultOf(lost, { isOutOfRoom: true })).toMatchObject({
    kind: "unavailable",
    detail: expect.stringContaining("disk of the database is full"),
  });
  expect(faultOf(lost, { isOutOfRoom: false })?.detail).toContain("cannot be reached");
  expect(faultOf(new TypeError("x is not a function"), { isOutOfRoom: true })).toBeNull();
});

describe("whose fault it is", () => {
  const carrying = (fields: object) => Object.assign(new Error("x"), fields);

  test.each([
    [413, "payload_too_large"],
    [415, "unsupported_media_type"],
    [400, "bad_request"],
    [414, "bad_request"],
  ])("[ER11] a request that the framework refuses with %i is the caller's fault: %s", (statusCode, kind) => {
    expect(faultOf(carrying({ code: "FST_ERR_X", statusCode }))?.kind).toBe(kind);
  });

  test.each([
    ["a status of another system", carrying({ statusCode: 404 })],
    ["a framework that is used wrongly", carrying({ code: "FST_ERR_X", statusCode: 500 })],
    ["an unknown error", new TypeError("x is not a function")],
  ])("[ER11] an error is the server's fault: %s", (_, error) => {
    expect(faultOf(error)).toBeNull();
  });

  test("[ER13] a client that breaks off is not taken for a lost database", () => {
    expect(faultOf(carrying({ code: "ECONNRESET", statusCode: 400 }))?.kind).toBe("bad_request");
    expect(faultOf(carrying({ code: "ECONNRESET" }))?.kind).toBe("unavailable");
  });

  test("[ER11] every kind of fault has a status of its own", () => {
    const statuses = Object.values(STATUS_OF);
    expect(new Set(statuses).size).toBe(statuses.length);
  });
});
