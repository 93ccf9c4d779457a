import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, everything, parseAnswer, startEdge } from "./edge.fixture.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

describe("what comes over the wire", () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge((app) => {
      app.get("/things/:id", async (request) => request.params);
      app.post("/things", async (request) => ({ given: request.body ?? null }));
    });
  });
  afterAll(() => edge.app.close());

  test.each([
    [
      "[ER7] a request with headers that are too large",
      `GET /things/1 HTTP/1.1\r\nhost: x\r\nx-big: ${"a".repeat(20_000)}\r\n\r\n`,
      431,
    ],
    ["[ER7] a URL that is too long", `GET /things/${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    ["[ER8] text that is not HTTP", "hello\r\n\r\n", 400],
    ["[ER8] an unknown method", "BREW /things/1 HTTP/1.1\r\nhost: x\r\n\r\n", 400],
    ["[ER8] a header without a name", "GET /things/1 HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n", 400],
    [
      "[ER8] a request with two lengths of one body",
      "POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
      400,
    ],
    ["[ER8] a request without a host", "GET /things/1 HTTP/1.1\r\nconnection: close\r\n\r\n", 400],
    ["[ER6] an invalid escape", "GET /things/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 400],
    [
      "[ER6] an escaped half of a character",
      "GET /things/%E0%A4 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
      400,
    ],
    ["[ER6] an invalid URL that leads nowhere", "POST /%ff HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 400],
  ])("%s is refused in the common form", async (_, bytes, status) => {
    const answer = parseAnswer(await edge.exchange(bytes));
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ detail: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  });

  test("[ER6] a long parameter is not refused for its length", async () => {
    const id = "a".repeat(10_000);
    expect(await (await fetch(`${edge.url}/things/${id}`)).json()).toEqual({ id });
  });

  test("[ER8] an unknown Expect header is ignored", async () => {
    const raw = await edge.exchange(
      "GET /things/1 HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n",
    );
    expect(parseAnswer(raw)).toMatchObject({ status: 200, body: { id: "1" } });
  });

  test("[OP16] one connection serves many requests, also after one of them was refused", async () => {
    const first = "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n";
    const last = "GET /things/2 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    const raw = await edge.exchange(first + last);
    expect(raw.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"]);
  });

  test("[OP17] bytes that never became a request leave a log line with the id of the answer, and nothing of what was sent", async () => {
    const answer = parseAnswer(await edge.exchange("hush hush\r\n\r\n"));
    const line = edge.logged.findLast(({ msg }) => msg === "broken request");
    expect(line).toMatchObject({ request_id: answer.headers.get("x-request-id"), status: 400, source: "127.0.0.1" });
    expect(JSON.stringify(line)).not.toContain("hush");
  });

  test("[OP17] a URL that cannot be decoded leaves a log line with the id of its answer, and nothing of the URL", async () => {
    const answer = await fetch(`${edge.url}/things/%ff-hush`);
    const line = await edge.lineOf(answer);
    expect(line).toMatchObject({ method: "GET", route: null, status: 400 });
    expect(JSON.stringify(line)).not.toContain("hush");
  });
});

test("[ER9] a body that comes in too slowly is cut off when the time is up, however steadily it comes", async () => {
  let isHandled = false;
  const edge = await startEdge(
    (app) => {
      app.post("/things", async () => {
        isHandled = true;
      });
    },
    { requestTimeoutMs: 200 },
  );
  const socket = edge.dial();
  socket.write("POST /things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n");
  const dribbling = setInterval(() => socket.write(" "), 20);
  const answer = parseAnswer(await everything(socket));
  clearInterval(dribbling);
  expect(answer).toMatchObject({ status: 408, body: { detail: "The request took too long to arrive." } });
  expect(answer.headers.get("connection")).toBe("close");
  expect(answer.headers.get("x-request-id")).toMatch(UUID);
  expect(isHandled).toBe(false);
  await edge.app.close();
});

test("[ER9] a request that does not arrive in time is refused in the common form", async () => {
  const edge = await startEdge(undefined, { requestTimeoutMs: 10 });
  const socket = edge.dial();
  socket.write("POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n");
  const answer = parseAnswer(await everything(socket));
  expect(answer).toMatchObject({ status: 408, body: { detail: "The request took too long to arrive." } });
  expect(answer.headers.get("x-request-id")).toMatch(UUID);
  await edge.app.close();
});
