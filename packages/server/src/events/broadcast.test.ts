import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ACCESS_TOPIC, type AccessChange } from "../access/access-change.ts";
import { type Access, mayReadProject } from "../access/role.ts";
import type { Bus } from "../bus/bus.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import { startBroadcast } from "./broadcast.runner.ts";
import type { Broadcast } from "./broadcast.ts";
import type { Entry, EventLog, Head, Pruned } from "./event-log.ts";
import { accessOf, eventOf } from "./events.fixture.ts";

/** A stream whose client reads nothing or everything, as the test says. */
class FakeStream implements SseStream {
  readonly written: (Uint8Array | string)[] = [];
  readonly closed: (() => void)[] = [];
  waitingBytes = 0;
  fate: "open" | "ended" | "cut" = "open";

  write(bytes: Uint8Array | string) {
    this.written.push(bytes);
  }
  drained() {
    return Promise.resolve();
  }
  end() {
    this.fate = "ended";
    for (const listener of this.closed) listener();
  }
  cut() {
    this.fate = "cut";
    for (const listener of this.closed) listener();
  }
  onClose(listener: () => void) {
    this.closed.push(listener);
  }
  get names(): string[] {
    return [
      ...Buffer.concat(this.written.map((bytes) => Buffer.from(bytes)))
        .toString()
        .matchAll(/"id":"(\w+)"/g),
    ]
      .map(([, id = ""]) => id)
      .filter((id) => id !== "app");
  }
}

const SUPERUSER = accessOf({ isSuperuser: true });
const START = new Date("2030-01-01T00:00:00Z");
const LONG_AFTER = START.getTime() + 3_600_000;

let broadcast: Broadcast;
/** Messages for the bus, which only says that there is something to read. */
let hint: (message: unknown) => void;
let entries: Entry[];
let head: Head;
let pruned: Pruned[];
let readLog: ReturnType<typeof vi.fn<EventLog["readAfter"]>>;
function write(message: unknown, topic = "events"): void {
  head = { ...head, position: head.position + 1 };
  entries.push({ position: head.position, topic, message: JSON.stringify(message) });
}
function say(message: unknown): void {
  write(message);
  hint(message);
}
let accessChanged: (change: AccessChange | object) => void;
let read: ReturnType<typeof vi.fn<(credentialIds: readonly string[]) => Promise<Map<string, Access>>>>;
let missed: () => void;
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  log.warn.mockClear();
  entries = [];
  pruned = [];
  head = { logId: "0123abcd", position: 100 };
  readLog = vi.fn(async (position) => {
    const page = entries.filter((entry) => entry.position > position).slice(0, 500);
    const upTo = (page.length === 500 ? page.at(-1)?.position : undefined) ?? head.position;
    return { head, entries: page, upTo, pruned };
  });
  const eventLog: EventLog = {
    head: async () => head,
    readAfter: readLog,
    missedSince: async () => ({ entries: 0, bytes: 0, isPruned: false }),
    readRange: async (after, upTo) =>
      entries.filter(({ position }) => position > after && position <= upTo).slice(0, 500),
  };
  read = vi.fn(async (ids) => new Map(ids.map((id) => [id, SUPERUSER])));
  const bus: Bus = {
    publish: () => undefined,
    subscribe: (topic, handler) => {
      if (topic === ACCESS_TOPIC) accessChanged = handler;
      else hint = handler;
      return () => undefined;
    },
    onMissed: (handler) => {
      missed = handler;
      return () => undefined;
    },
    connected: Promise.resolve(),
    isUp: () => true,
    close: async () => undefined,
  };
  broadcast = startBroadcast({ bus, clock: () => new Date(), log, accessOf: read, eventLog, mostEventStreams: 3 });
});
afterEach(() => {
  broadcast.stop();
  vi.useRealTimers();
});

async function join(credentialId = "session-1", expiresAtMs = LONG_AFTER, resuming: object = {}) {
  const stream = new FakeStream();
  const subscription = {
    credentialId,
    userId: `user of ${credentialId}`,
    expiresAtMs,
    filter: { resource_type: "all" },
    isResumable: false,
    ...resuming,
  };
  await broadcast.join(subscription as Parameters<Broadcast["join"]>[0], () => stream);
  return stream;
}

const event = (id: string) => eventOf({ id, resource: { type: "app", id: "app", name: "shop" } });
const round = () => vi.advanceTimersByTimeAsync(100);

describe("delivery", () => {
  test("[EV8] events are gathered for 100 ms and sent as the same bytes, in order, to all with the same access", async () => {
    const [one, other] = [await join("session-1"), await join("session-2")];
    say(event("a"));
    await vi.advanceTimersByTimeAsync(99);
    say(event("b"));
    expect(one.written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(one.names).toEqual(["a", "b"]);
    expect(one.written).toHaveLength(1);
    expect(other.written[0]).toBe(one.written[0]);
  });

  test("[EV8] nothing is written to a stream without events for it", async () => {
    read.mockResolvedValue(new Map([["session-1", accessOf()]]));
    const stream = await join();
    say(event("a"));
    await round();
    expect(stream.written).toEqual([]);
  });

  test("[EV10] an entry of the log that is not an event is dropped and logged", async () => {
    const stream = await join();
    say({ type: "app" });
    say(event("a"));
    await round();
    expect(stream.names).toEqual(["a"]);
    expect(log.warn).toHaveBeenCalledOnce();
  });

  test("[EV22] a client with more than 256 KiB unread is disconnected, and nobody else", async () => {
    const [stalled, reader] = [await join("session-1"), await join("session-2")];
    stalled.waitingBytes = 256 * 1024 + 1;
    reader.waitingBytes = 256 * 1024;
    say(event("a"));
    await round();
    expect([stalled.fate, stalled.names]).toEqual(["cut", []]);
    expect([reader.fate, reader.names]).toEqual(["open", ["a"]]);
  });

  test("[EV1559] after lost messages the log and the access of all streams are read again, and no stream ends", async () => {
    const stream = await join("session-1");
    const end = vi.fn();
    const reader = { credentialId: "session-2", userId: "other", expiresAtMs: LONG_AFTER };
    await broadcast.watch(reader, () => true, end);
    read.mockClear();
    write(event("a"));
    missed();
    await round();
    expect(read.mock.calls).toEqual([[["session-1", "session-2"], expect.any(Date)]]);
    expect([stream.names, stream.fate, end.mock.calls]).toEqual([["a"], "open", []]);
  });

  test("[EV3765] an event whose message on the bus is lost is delivered within about a second", async () => {
    const stream = await join();
    write(event("a"));
    await vi.advanceTimersByTimeAsync(1_100);
    expect(stream.names).toEqual(["a"]);
  });

  test("[EV3765] events that cannot be read now are delivered once the database answers", async () => {
    const stream = await join();
    readLog.mockRejectedValueOnce(new Error("no database"));
    say(event("a"));
    await round();
    expect([stream.names, stream.fate, log.warn.mock.calls.length]).toEqual([[], "open", 1]);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(stream.names).toEqual(["a"]);
  });

  test("[EV25] more than 500 events at once are delivered in several rounds", async () => {
    const stream = await join();
    for (let count = 0; count < 1_200; count++) say(event(`e${count}`));
    await round();
    expect(stream.names).toHaveLength(500);
    await vi.advanceTimersByTimeAsync(200);
    expect(stream.names).toEqual(Array.from({ length: 1_200 }, (_, count) => `e${count}`));
  });

  test("[EV25] where events of an organization are deleted before they are read, only the streams of those who see it end", async () => {
    const orgRoles = (org: string) => accessOf({ orgRoles: new Map([[org, "admin"]]) });
    read.mockResolvedValueOnce(new Map([["session-1", orgRoles("org-1")]]));
    const concerned = await join("session-1");
    read.mockResolvedValueOnce(new Map([["session-2", orgRoles("org-2")]]));
    const other = await join("session-2");
    pruned = [{ orgId: "org-1", position: 101 }];
    say(eventOf({ ...event("a"), org_id: "org-2" }));
    await round();
    expect([concerned.fate, other.fate, other.names]).toEqual(["ended", "open", ["a"]]);
    expect(String(concerned.written.at(-1))).toMatch(/^retry: \d+$/m);
  });

  test("[EV3764] all event streams end when the database is another one, and new ones go on with it", async () => {
    const stream = await join();
    head = { logId: "ffff0000", position: 3 };
    hint({});
    await round();
    expect(stream.fate).toBe("ended");
    const next = await join();
    say(event("b"));
    await round();
    expect(next.names).toEqual(["b"]);
  });
});

describe("a resumable stream", () => {
  const text = (stream: FakeStream) => Buffer.concat(stream.written.map((bytes) => Buffer.from(bytes))).toString();
  const idsOf = (stream: FakeStream) => [...text(stream).matchAll(/^id: (\S+)$/gm)].map(([, id]) => id);

  test("[EV3761] a resumable stream names its position when it is opened, and with every event", async () => {
    const [resumable, plain] = [await join("session-1", LONG_AFTER, { isResumable: true }), await join("session-2")];
    say(event("a"));
    await round();
    expect([idsOf(resumable), idsOf(plain)]).toEqual([["0123abcd-100", "0123abcd-101"], []]);
    expect([resumable.names, plain.names]).toEqual([["a"], ["a"]]);
  });

  test("[EV3766] a quiet resumable stream is told every 15 seconds how far it is, and only if it has moved", async () => {
    read.mockImplementation(async (ids) => new Map(ids.map((id) => [id, accessOf()])));
    const stream = await join("session-1", LONG_AFTER, { isResumable: true });
    say(event("a"));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(text(stream)).toBe("id: 0123abcd-100\n\nid: 0123abcd-101\n\n");
    await vi.advanceTimersByTimeAsync(15_000);
    expect(idsOf(stream)).toHaveLength(2);
  });

  test("[EV3761] events that come while a stream reads what it has missed are sent to it once, behind those", async () => {
    const live = await join("session-2");
    for (const id of ["a", "b", "c"]) write(event(id));
    const slow = new FakeStream();
    const drained = Promise.withResolvers<void>();
    slow.drained = () => drained.promise;
    const filter = { resource_type: "all" } as const;
    const reader = { credentialId: "session-1", userId: "user", expiresAtMs: LONG_AFTER };
    const subscription = { ...reader, filter, isResumable: true, lastEventId: "0123abcd-101" };
    const joining = broadcast.join(subscription, () => slow);
    await vi.advanceTimersByTimeAsync(0);
    expect(slow.names).toEqual(["b", "c"]);
    say(event("d"));
    await round();
    expect([live.names, slow.names]).toEqual([
      ["a", "b", "c", "d"],
      ["b", "c"],
    ]);
    drained.resolve();
    await joining;
    say(event("e"));
    await round();
    expect(slow.names).toEqual(["b", "c", "d", "e"]);
  });
});

describe("access", () => {
  test("[EV19] access is read again after a hint before any later event is sent", async () => {
    const [gone, stays] = [await join("session-1"), await join("session-2")];
    read.mockResolvedValue(new Map());
    accessChanged({ credential_id: "session-1" });
    say(event("a"));
    await round();
    expect([gone.fate, gone.names]).toEqual(["ended", []]);
    expect([stays.fate, stays.names]).toEqual(["open", ["a"]]);
    expect(read).toHaveBeenLastCalledWith(["session-1"], expect.any(Date));
  });

  test("[EV19] a change of access whose message is lost is in the log, before any later event", async () => {
    const [gone, stays] = [await join("session-1"), await join("session-2")];
    read.mockResolvedValue(new Map());
    write({ credential_id: "session-1" }, ACCESS_TOPIC);
    say(event("a"));
    await round();
    expect([gone.fate, gone.names]).toEqual(["ended", []]);
    expect([stays.fate, stays.names]).toEqual(["open", ["a"]]);
  });

  test.each([
    ["that names a session", { credential_id: "session-2" }, ["session-2"]],
    ["that names a user", { user_id: "user of session-1" }, ["session-1"]],
    ["that names somebody who is not connected", { user_id: "nobody" }, null],
    ["that cannot be read", { of: "a later version" }, ["session-1", "session-2"]],
  ])("[EV18] [EV19] access is read again after a change %s", async (_, change, sessions) => {
    await join("session-1");
    await join("session-2");
    read.mockClear();
    accessChanged(change);
    await round();
    expect(read.mock.calls.map(([ids]) => ids)).toEqual(sessions ? [sessions] : []);
  });

  test("[EV18] an activity does not cause access to be read again", async () => {
    await join("session-1");
    read.mockClear();
    say({
      ...event("a"),
      type: "activity",
      action: "role_binding.revoke",
      resource: { type: "session", id: "session-1" },
    });
    await round();
    expect(read).not.toHaveBeenCalled();
  });

  test("[EV18] access that changes while it is read for the first time is read once more", async () => {
    const first = Promise.withResolvers<Map<string, Access>>();
    read.mockReturnValueOnce(first.promise).mockResolvedValue(new Map());
    const joining = join();
    accessChanged({ credential_id: "session-1" });
    await round();
    first.resolve(new Map([["session-1", SUPERUSER]]));
    await expect(joining).rejects.toThrow("User not authenticated.");
  });

  test("[EV21] access is read again every 15 seconds, in one query for all streams", async () => {
    const [gone, stays] = [await join("session-1"), await join("session-2")];
    read.mockClear();
    read.mockResolvedValue(new Map([["session-2", SUPERUSER]]));
    await vi.advanceTimersByTimeAsync(15_100);
    expect(read.mock.calls.map(([ids]) => ids)).toEqual([["session-1", "session-2"]]);
    expect([gone.fate, stays.fate]).toEqual(["ended", "open"]);
  });

  test("[EV21] a stream whose access cannot be read ends, and a new one is refused", async () => {
    const stream = await join();
    read.mockRejectedValue(new Error("no database"));
    await vi.advanceTimersByTimeAsync(15_100);
    expect(stream.fate).toBe("ended");
    expect(log.warn).toHaveBeenCalledOnce();
    await expect(join()).rejects.toThrow("no database");
  });

  test("[EV20] a stream ends with its access token, and no later event is sent", async () => {
    const [late, quiet] = [
      await join("session-1", START.getTime() + 50),
      await join("session-2", START.getTime() + 4_000),
    ];
    say(event("a"));
    await round();
    expect([late.fate, late.names]).toEqual(["ended", []]);
    expect([quiet.fate, quiet.names]).toEqual(["open", ["a"]]);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(quiet.fate).toBe("ended");
  });

  test("[EV19] a session that is over cannot open a stream", async () => {
    read.mockResolvedValue(new Map());
    await expect(join()).rejects.toThrow("User not authenticated.");
  });
});

test("[EV23] the broadcast of events ends its streams when it stops", async () => {
  const stream = await join();
  broadcast.stop();
  expect(stream.fate).toBe("ended");
});

describe("a reading that is watched", () => {
  const PROJECT = { org_id: "org", cluster_id: "cluster", project_id: "project" };
  const viewer = accessOf({ projectRoles: new Map([["project", "viewer"]]) });
  const reader = (expiresAtMs = LONG_AFTER) => ({ credentialId: "session-1", userId: "user-1", expiresAtMs });
  const mayStay = (access: Access) => mayReadProject(PROJECT, access);
  const reads = (access: Access | null) => read.mockResolvedValue(new Map(access ? [["session-1", access]] : []));

  beforeEach(() => reads(viewer));

  test("[AP61] a watched log stream ends when the session has ended", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(), mayStay, end);
    reads(null);
    accessChanged({ credential_id: "session-1" });
    await round();
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] a watched log stream ends when the token expires", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(START.getTime() + 1_000), mayStay, end);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] a watched log stream ends when the project may no longer be read, also without a hint", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(), mayStay, end);
    reads(accessOf());
    await vi.advanceTimersByTimeAsync(15_100);
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] a log stream is refused to a reader whose session is over or who may not read the project", async () => {
    reads(accessOf());
    await expect(broadcast.watch(reader(), mayStay, vi.fn())).rejects.toMatchObject({ kind: "unauthenticated" });
    reads(null);
    await expect(broadcast.watch(reader(), mayStay, vi.fn())).rejects.toMatchObject({ kind: "unauthenticated" });
  });

  test("[AP61] a watched log stream survives a flood of events, and one that is no longer watched is not ended", async () => {
    const [end, unwatched] = [vi.fn(), vi.fn()];
    await broadcast.watch(reader(), mayStay, end);
    const unwatch = await broadcast.watch(reader(), mayStay, unwatched);
    for (let count = 0; count <= 10_000; count++) say(event("a"));
    await round();
    expect(end).not.toHaveBeenCalled();
    unwatch();
    broadcast.stop();
    expect([end.mock.calls.length, unwatched.mock.calls.length]).toEqual([1, 0]);
  });
});

describe("too many streams of one user", () => {
  const reader = { credentialId: "session-1", userId: "user", expiresAtMs: LONG_AFTER };
  const watch = (userId = "user") =>
    broadcast.watch(
      { ...reader, userId },
      () => true,
      () => undefined,
    );
  const listen = () => {
    const filter = { resource_type: "all" } as const;
    const subscription = { ...reader, filter, isResumable: false, lastEventId: undefined };
    return broadcast.join(subscription, () => new FakeStream());
  };

  test("[EV26] too many streams of one user are refused, log streams and event streams counted apart", async () => {
    const unwatch = await Promise.all(Array.from({ length: 20 }, () => watch()));
    await Promise.all(Array.from({ length: 3 }, listen));
    const refusal = { kind: "rate_limited", message: expect.stringMatching(/^You have 20 log streams open/) };
    await expect(watch()).rejects.toMatchObject(refusal);
    const message = expect.stringMatching(/^You have 3 event streams open/);
    await expect(listen()).rejects.toMatchObject({ kind: "rate_limited", message });
    await watch("another user");
    unwatch[0]?.();
    await watch();
    await expect(watch()).rejects.toMatchObject(refusal);
  });

  test("[EV26] log streams that are not followed are not counted", async () => {
    const once = () =>
      broadcast.watch(
        reader,
        () => true,
        () => undefined,
        { isCounted: false },
      );
    await Promise.all(Array.from({ length: 25 }, once));
    await Promise.all(Array.from({ length: 20 }, () => watch()));
    await once();
    await expect(watch()).rejects.toMatchObject({ kind: "rate_limited" });
  });

  test("[EV26] streams are counted before their access is read, so that concurrent ones cannot exceed the limit", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 25 }, () => watch()));
    expect(answers.filter(({ status }) => status === "rejected")).toHaveLength(5);
  });
});
