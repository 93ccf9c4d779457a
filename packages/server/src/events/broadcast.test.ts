import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ACCESS_TOPIC, type AccessChange } from "../access/access-change.ts";
import { type Access, mayReadProject } from "../access/role.ts";
import type { Bus } from "../bus/bus.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import { type Broadcast, startBroadcast } from "./broadcast.runner.ts";
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
let say: (message: unknown) => void;
let accessChanged: (change: AccessChange | object) => void;
let read: ReturnType<typeof vi.fn<(credentialIds: readonly string[]) => Promise<Map<string, Access>>>>;
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  log.warn.mockClear();
  read = vi.fn(async (ids) => new Map(ids.map((id) => [id, SUPERUSER])));
  const bus: Bus = {
    publish: () => undefined,
    subscribe: (topic, handler) => {
      if (topic === ACCESS_TOPIC) accessChanged = handler;
      else say = handler;
      return () => undefined;
    },
    isUp: () => true,
    close: async () => undefined,
  };
  broadcast = startBroadcast({ bus, clock: () => new Date(), log, accessOf: read, mostEventStreams: 3 });
});
afterEach(() => {
  broadcast.stop();
  vi.useRealTimers();
});

async function join(credentialId = "session-1", expiresAtMs = LONG_AFTER) {
  const stream = new FakeStream();
  const subscription = {
    credentialId,
    userId: `user of ${credentialId}`,
    expiresAtMs,
    filter: { resource_type: "all" },
  };
  await broadcast.join(subscription as Parameters<Broadcast["join"]>[0], () => stream);
  return stream;
}

const event = (id: string) => eventOf({ id, resource: { type: "app", id: "app", name: "shop" } });
const round = () => vi.advanceTimersByTimeAsync(100);

describe("delivery", () => {
  test("[EV8] gathers for 100 ms and brings the same bytes, in order, to those who may hear the same", async () => {
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

  test("[EV8] writes nothing where there is nothing to hear", async () => {
    read.mockResolvedValue(new Map([["session-1", accessOf()]]));
    const stream = await join();
    say(event("a"));
    await round();
    expect(stream.written).toEqual([]);
  });

  test("[EV10] drops what is no event, and says so", async () => {
    const stream = await join();
    say({ type: "app" });
    say(event("a"));
    await round();
    expect(stream.names).toEqual(["a"]);
    expect(log.warn).toHaveBeenCalledOnce();
  });

  test("[EV22] cuts off a client that leaves more than 256 KiB lying, and nobody else", async () => {
    const [stalled, reader] = [await join("session-1"), await join("session-2")];
    stalled.waitingBytes = 256 * 1024 + 1;
    reader.waitingBytes = 256 * 1024;
    say(event("a"));
    await round();
    expect([stalled.fate, stalled.names]).toEqual(["cut", []]);
    expect([reader.fate, reader.names]).toEqual(["open", ["a"]]);
  });

  test("[EV25] ends the streams when more than 10,000 events come at once, and goes on with the next", async () => {
    const stream = await join();
    for (let count = 0; count <= 10_000; count++) say(event("a"));
    await round();
    expect([stream.fate, stream.written]).toEqual(["ended", []]);
    const next = await join();
    say(event("b"));
    await round();
    expect(next.names).toEqual(["b"]);
  });
});

describe("access", () => {
  test("[EV19] is asked about again before anything that came after the hint is told", async () => {
    const [gone, stays] = [await join("session-1"), await join("session-2")];
    read.mockResolvedValue(new Map());
    accessChanged({ credential_id: "session-1" });
    say(event("a"));
    await round();
    expect([gone.fate, gone.names]).toEqual(["ended", []]);
    expect([stays.fate, stays.names]).toEqual(["open", ["a"]]);
    expect(read).toHaveBeenLastCalledWith(["session-1"], expect.any(Date));
  });

  test.each([
    ["that names a session", { credential_id: "session-2" }, ["session-2"]],
    ["that names a user", { user_id: "user of session-1" }, ["session-1"]],
    ["that names somebody who is not connected", { user_id: "nobody" }, null],
    ["that cannot be read", { of: "a later version" }, ["session-1", "session-2"]],
  ])("[EV18] [EV19] is read again after a change %s", async (_, change, sessions) => {
    await join("session-1");
    await join("session-2");
    read.mockClear();
    accessChanged(change);
    await round();
    expect(read.mock.calls.map(([ids]) => ids)).toEqual(sessions ? [sessions] : []);
  });

  test("[EV18] is not read again because of what an activity says", async () => {
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

  test("[EV18] that a hint changes while it is being read for the first time is read once more", async () => {
    const first = Promise.withResolvers<Map<string, Access>>();
    read.mockReturnValueOnce(first.promise).mockResolvedValue(new Map());
    const joining = join();
    accessChanged({ credential_id: "session-1" });
    await round();
    first.resolve(new Map([["session-1", SUPERUSER]]));
    await expect(joining).rejects.toThrow("User not authenticated.");
  });

  test("[EV21] is read again every 15 seconds, in one query for all", async () => {
    const [gone, stays] = [await join("session-1"), await join("session-2")];
    read.mockClear();
    read.mockResolvedValue(new Map([["session-2", SUPERUSER]]));
    await vi.advanceTimersByTimeAsync(15_100);
    expect(read.mock.calls.map(([ids]) => ids)).toEqual([["session-1", "session-2"]]);
    expect([gone.fate, stays.fate]).toEqual(["ended", "open"]);
  });

  test("[EV21] that cannot be read ends the stream, and a new one is refused for now", async () => {
    const stream = await join();
    read.mockRejectedValue(new Error("no database"));
    await vi.advanceTimersByTimeAsync(15_100);
    expect(stream.fate).toBe("ended");
    expect(log.warn).toHaveBeenCalledOnce();
    await expect(join()).rejects.toThrow("no database");
  });

  test("[EV20] ends with the access token, and what comes after it is not told", async () => {
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

  test("[EV19] a session that is over opens nothing", async () => {
    read.mockResolvedValue(new Map());
    await expect(join()).rejects.toThrow("User not authenticated.");
  });
});

test("[EV23] a broadcast that stops ends its streams", async () => {
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

  test("[AP61] ends when the session has ended", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(), mayStay, end);
    reads(null);
    accessChanged({ credential_id: "session-1" });
    await round();
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] ends when the token expires", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(START.getTime() + 1_000), mayStay, end);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] ends when the project may no longer be read, though no hint has said so", async () => {
    const end = vi.fn();
    await broadcast.watch(reader(), mayStay, end);
    reads(accessOf());
    await vi.advanceTimersByTimeAsync(15_100);
    expect(end).toHaveBeenCalledOnce();
  });

  test("[AP61] does not begin where it would have to end", async () => {
    reads(accessOf());
    await expect(broadcast.watch(reader(), mayStay, vi.fn())).rejects.toMatchObject({ kind: "unauthenticated" });
    reads(null);
    await expect(broadcast.watch(reader(), mayStay, vi.fn())).rejects.toMatchObject({ kind: "unauthenticated" });
  });

  test("[AP61] goes on otherwise, also through a flood of events, and is left alone once nobody watches it", async () => {
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
    const subscription = { ...reader, filter: { resource_type: "all" } as const };
    return broadcast.join(subscription, () => new FakeStream());
  };

  test("[EV26] are refused, those of logs and those of events each for themselves", async () => {
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

  test("[EV26] are not counted where they end by themselves, as logs that are not followed do", async () => {
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

  test("[EV26] are counted before it is known what they may see, so that none slips through beside another", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 25 }, () => watch()));
    expect(answers.filter(({ status }) => status === "rejected")).toHaveLength(5);
  });
});
