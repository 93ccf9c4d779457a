import { expect, test } from "vitest";
import { errorFrom, fails, HandStream, json, quiet, type Responder, scripted } from "./client.fixture.ts";
import type { BinnacleError } from "./errors.ts";

const APP = { namespace: "shop", name: "web", project_id: "p" };
const OPEN = { done: false, value: { type: "open" } };
const GAP = { done: false, value: { type: "gap", reason: "reconnected", count: null } };
const item = (event: string, data: unknown) => ({ done: false, value: { type: "event", event, data } });
const log = (time: number, line: string) => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: new Date(Date.UTC(2026, 0, 1) + time).toISOString(),
  line,
});
const ended = () => {
  const stream = new HandStream();
  stream.end();
  return stream;
};

test("[CN21] a stream says that it is open, delivers events as they come, and is closed when its reader leaves", async () => {
  const stream = new HandStream();
  const { client, clock, sent } = scripted([stream.respond]);
  const events = client.stream("streamEvents", { project_id: "p" });
  await quiet();
  expect(sent).toEqual([]);
  expect(await clock.run(events.next())).toEqual(OPEN);
  stream.write(": comment\n\nevent: app\nda");
  stream.write('ta: {"id":"1"}\n\n');
  stream.event("project", { id: "2" });
  expect(await clock.run(events.next())).toEqual(item("app", { id: "1" }));
  expect(await clock.run(events.next())).toEqual(item("project", { id: "2" }));
  await events.return();
  expect(sent.map(({ url, headers }) => [new URL(url).search, headers.get("accept")])).toEqual([
    ["?resumable=true&project_id=p", "text/event-stream"],
  ]);
  expect([stream.isCancelled, sent[0]?.signal.aborted, clock.pendingTimers]).toEqual([true, true, 0]);
});

test("[CN21] a reader who leaves as soon as the stream is open closes it too", async () => {
  const stream = new HandStream();
  const { client, clock, sent } = scripted([stream.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  await events.return();
  expect([sent[0]?.signal.aborted, clock.pendingTimers]).toEqual([true, 0]);
});

test("[CN21] a signal ends a stream that waits, without an error", async () => {
  const stream = new HandStream();
  const leaving = new AbortController();
  const { client, clock, sent } = scripted([stream.respond]);
  const events = client.stream("streamEvents", {}, { signal: leaving.signal });
  await clock.run(events.next());
  const waiting = events.next();
  await quiet();
  leaving.abort(new Error("enough"));
  expect(await waiting).toEqual({ done: true, value: undefined });
  await quiet();
  expect([stream.isCancelled, sent.length, clock.pendingTimers]).toEqual([true, 1, 0]);
});

test("[CN22] a stream that breaks is opened again with growing waits, and reports a gap once it is open", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const broken = fails("ECONNREFUSED");
  const busy = json(503, { detail: "Stopping." });
  const { client, clock, sent } = scripted([first.respond, broken, broken, busy, second.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  first.fail();
  const brokeAt = clock.now();
  expect(await clock.run(events.next())).toEqual(GAP);
  expect([sent.length, clock.now() - brokeAt]).toEqual([5, 250 + 500 + 1_000 + 2_000]);
  second.event("app", { id: "1" });
  expect(await clock.run(events.next())).toEqual(item("app", { id: "1" }));
});

test("[CN22] the waits of a stream grow while nothing comes, and begin anew after an event", async () => {
  const last = new HandStream();
  const useful = new HandStream();
  useful.event("app", {});
  useful.end();
  const streams = [ended(), ended(), useful, last];
  const { client, clock } = scripted(streams.map(({ respond }) => respond));
  const events = client.stream("streamEvents");
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    await clock.run(events.next());
    times.push(clock.now());
  }
  // open, gap, gap, event, gap
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([250, 500, 0, 250]);
});

test.each<[string, Responder]>([
  ["Unauthenticated", json(401, { detail: "User not authenticated." })],
  ["Forbidden", json(403, { detail: "No." })],
  ["NotFound", json(404, { detail: "App not found." })],
  ["ServerFault", json(500, { detail: "Internal Server Error" })],
  ["UnexpectedAnswer", json(200, {})],
])("[CN22] the answer %s ends a stream that was open", async (name, responder) => {
  const { client, clock } = scripted([ended().respond, responder]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  expect(await errorFrom(clock.run(events.next()))).toMatchObject({ name });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("[CN22] a stream is not opened again for longer than its reader wants", async () => {
  const { client, clock } = scripted([ended().respond, fails("ECONNREFUSED")]);
  const events = client.stream("streamEvents", {}, { reconnectForMs: 60_000 });
  await clock.run(events.next());
  const brokeAt = clock.now();
  const error: BinnacleError = await errorFrom(clock.run(events.next()));
  expect(error.name).toBe("Unreachable");
  expect(clock.now() - brokeAt).toBeGreaterThanOrEqual(60_000);
  expect(clock.now() - brokeAt).toBeLessThan(100_000);
});

test("[CN22] a stream that cannot be opened at first fails as any call does", async () => {
  const { client, clock, sent } = scripted([fails("ECONNREFUSED")]);
  expect(await errorFrom(clock.run(client.stream("streamEvents").next()))).toMatchObject({
    name: "Unreachable",
    attempts: 4,
  });
  expect(sent).toHaveLength(4);
});

test("[CN22] where events have ids the stream continues after the last one, without a gap", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  first.event("app", { id: "1" }, "41");
  first.end();
  second.event("app", { id: "2" }, "42");
  expect(await clock.run(events.next())).toEqual(item("app", { id: "1" }));
  expect(await clock.run(events.next())).toEqual(item("app", { id: "2" }));
  expect(sent.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "41"]);
});

test("[CN2514] an id without an event moves the stream on", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  first.write("id: 41\n\nid: 42\nevent: app\n");
  first.end();
  second.event("app", { id: "2" }, "43");
  expect(await clock.run(events.next())).toEqual(item("app", { id: "2" }));
  expect(sent.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "41"]);
});

test("[CN2514] a stream that is open again says so, although it has missed nothing and nothing comes", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock } = scripted([first.respond, second.respond]);
  const reconnected = Promise.withResolvers<void>();
  const events = client.stream("streamEvents", {}, { onReconnect: reconnected.resolve });
  await clock.run(events.next());
  first.event("app", { id: "1" }, "41");
  first.end();
  await clock.run(events.next());
  const next = events.next();
  await clock.run(reconnected.promise);
  second.event("app", { id: "2" }, "42");
  expect(await clock.run(next)).toEqual(item("app", { id: "2" }));
});

test("[CN2514] a reset is told as a gap, and the stream goes on", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock } = scripted([first.respond, second.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  first.event("app", { id: "1" }, "41");
  first.end();
  second.event("reset", { type: "reset" }, "90");
  second.event("app", { id: "2" }, "91");
  expect(await clock.run(events.next())).toEqual(item("app", { id: "1" }));
  expect(await clock.run(events.next())).toEqual(GAP);
  expect(await clock.run(events.next())).toEqual(item("app", { id: "2" }));
});

test("[CN24] the log of a job continues after the last line, and ends for good with the job's status", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const lines = client.stream("getProvisioningLogs", { id: "j" });
  await clock.run(lines.next());
  first.event("log", { position: 7, line: "init" }, "7");
  first.end();
  second.event("log", { position: 8, line: "apply" }, "8");
  second.event("end", { status: "succeeded" });
  expect(await clock.run(lines.next())).toEqual(item("log", { position: 7, line: "init" }));
  expect(await clock.run(lines.next())).toEqual(item("log", { position: 8, line: "apply" }));
  expect(await clock.run(lines.next())).toEqual({ done: true, value: undefined });
  expect(sent.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "7"]);
});

test("[CN23] a connection on which not even a comment comes for 25 seconds is given up", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  const waiting = events.next();
  await quiet();
  clock.advance(24_000);
  first.write(":\n\n");
  await quiet();
  clock.advance(24_000);
  await quiet();
  expect(sent[0]?.signal.aborted).toBe(false);
  expect(await clock.run(waiting)).toEqual(GAP);
  expect([sent[0]?.signal.aborted, sent.length]).toEqual([true, 2]);
});

test("[CN24] logs continue where they broke off: no line comes twice, and a possible gap is reported", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const logs = client.stream("streamAppLogs", { ...APP, tail_lines: 5 });
  await clock.run(logs.next());
  first.event("log", log(1, "a"));
  first.event("log", log(1, "b"));
  first.fail();
  second.event("log", log(0, "before"));
  second.event("log", log(1, "a"));
  second.event("log", log(1, "b"));
  second.event("log", log(1, "c"));
  const seen = [];
  for (let count = 0; count < 4; count++) seen.push(await clock.run(logs.next()));
  // What was read before the connection failed is lost with it; it comes again on the next one.
  expect(seen).toEqual([GAP, item("log", log(0, "before")), item("log", log(1, "a")), item("log", log(1, "b"))]);
  expect(sent.map(({ url }) => new URL(url).search)).toEqual([
    "?project_id=p&tail_lines=5",
    "?project_id=p&tail_lines=10000&since_seconds=6",
  ]);
});

test("[CN24] log lines that were passed on do not come again", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock } = scripted([first.respond, second.respond]);
  const logs = client.stream("streamAppLogs", APP);
  await clock.run(logs.next());
  for (const it of [log(1, "a"), log(2, "b")]) {
    first.event("log", it);
    expect(await clock.run(logs.next())).toEqual(item("log", it));
  }
  first.fail();
  for (const it of [log(1, "a"), log(2, "b"), log(2, "c")]) second.event("log", it);
  expect(await clock.run(logs.next())).toEqual(GAP);
  expect(await clock.run(logs.next())).toEqual(item("log", log(2, "c")));
});

test("[CN24] log lines that the server left out are counted", async () => {
  const stream = new HandStream();
  const { client, clock } = scripted([stream.respond]);
  const logs = client.stream("streamAppLogs", APP);
  await clock.run(logs.next());
  stream.event("dropped", { count: 7 });
  expect(await clock.run(logs.next())).toEqual({ done: false, value: { type: "gap", reason: "dropped", count: 7 } });
});

test("[CN24] logs that have ended are requested once more, and end then", async () => {
  const [first, second] = [new HandStream(), new HandStream()];
  const { client, clock, sent } = scripted([first.respond, second.respond]);
  const logs = client.stream("streamAppLogs", APP);
  await clock.run(logs.next());
  first.event("log", log(1, "a"));
  first.event("end", {});
  expect(await clock.run(logs.next())).toEqual(item("log", log(1, "a")));
  second.event("log", log(1, "a"));
  second.event("end", {});
  expect(await clock.run(logs.next())).toEqual({ done: true, value: undefined });
  expect([sent.length, clock.pendingTimers]).toEqual([2, 0]);
});

test("[CN24] logs that ended because access was lost end with that error", async () => {
  const first = new HandStream();
  const { client, clock } = scripted([first.respond, json(404, { detail: "App not found." })]);
  const logs = client.stream("streamAppLogs", APP);
  await clock.run(logs.next());
  first.event("end", {});
  expect(await errorFrom(clock.run(logs.next()))).toMatchObject({ name: "NotFound", message: "App not found." });
});

test("[CN24] logs that are not followed end at their end, and fail where they end without it", async () => {
  const read = async (finish: (stream: HandStream) => void) => {
    const stream = new HandStream();
    const { client, clock, sent } = scripted([stream.respond]);
    const logs = client.stream("streamAppLogs", { ...APP, follow: false });
    await clock.run(logs.next());
    finish(stream);
    const outcome = await clock.run(logs.next()).catch(({ name, message }: BinnacleError) => `${name}: ${message}`);
    return [outcome, sent.length];
  };
  expect(await read((it) => it.event("end", {}))).toEqual([{ done: true, value: undefined }, 1]);
  expect(await read((it) => it.end())).toEqual(["Unreachable: The stream broke off before its end.", 1]);
  expect(await read((it) => it.event("end", { error: "The logs broke off." }))).toEqual([
    "ServerFault: The logs broke off.",
    1,
  ]);
});

test("[CN25] nothing is read from the connection of a stream while its reader is busy", async () => {
  const stream = new HandStream();
  const { client, clock } = scripted([stream.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  await quiet();
  expect(stream.pulls).toBe(0);
  const waiting = events.next();
  await quiet();
  expect(stream.pulls).toBe(1);
  stream.event("app", {});
  await clock.run(waiting);
  await quiet();
  expect(stream.pulls).toBe(1);
  clock.advance(600_000);
  stream.event("app", { id: "2" });
  expect(await clock.run(events.next())).toEqual(item("app", { id: "2" }));
});

test("[CN25] a frame that is too long ends the stream", async () => {
  const stream = new HandStream();
  const { client, clock } = scripted([stream.respond]);
  const events = client.stream("streamEvents");
  await clock.run(events.next());
  stream.write(`data: ${"x".repeat(5 * 1024 * 1024)}`);
  expect(await errorFrom(clock.run(events.next()))).toMatchObject({ name: "UnexpectedAnswer" });
  expect(stream.isCancelled).toBe(true);
});
