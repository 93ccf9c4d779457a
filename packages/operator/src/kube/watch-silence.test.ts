import { expect, test } from "vitest";
import type { KubeClient, WatchEvent } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { APPS, PODS } from "./resource-types.ts";
import { withWatchSilence } from "./watch-silence.ts";

const BOOKMARK: WatchEvent = { type: "BOOKMARK", resourceVersion: "1" };

/** A client each of whose watches ends as the test says. */
function world(watch: () => AsyncIterable<WatchEvent>) {
  const time = { ms: 0 };
  const { kube, silences } = withWatchSilence({ watch } as unknown as KubeClient, () => time.ms);
  return { time, kube, silences };
}

test("[OP3979] the silence of a kind is that of its most silent watch, and an outage does not begin it anew", async () => {
  let isAway = false;
  const { time, kube, silences } = world(async function* () {
    if (isAway) throw new KubeError({ status: 0, reason: "x", message: "away" });
    yield BOOKMARK;
  });
  const options = { resourceVersion: "1", signal: new AbortController().signal };
  const follow = async (type = APPS, labelSelector = "a=b") => {
    for await (const event of kube.watch(type, { ...options, labelSelector })) expect(event).toBe(BOOKMARK);
  };
  expect(silences()).toEqual([]);
  await follow();
  await follow(PODS);
  time.ms = 60_000;
  await follow(APPS, "c=d");
  expect(silences()).toEqual([
    { kind: "App", silentMs: 60_000 },
    { kind: "Pod", silentMs: 60_000 },
  ]);
  await follow();
  isAway = true;
  time.ms = 90_000;
  for (let tries = 0; tries < 3; tries += 1) await expect(follow()).rejects.toThrow("away");
  expect(silences()[0]).toEqual({ kind: "App", silentMs: 30_000 });
  isAway = false;
  await follow();
  await follow(APPS, "c=d");
  expect(silences()[0]).toEqual({ kind: "App", silentMs: 0 });
});

test("[OP3979] a watch that nobody follows any more is not counted", async () => {
  const { time, kube, silences } = world(async function* () {
    yield BOOKMARK;
  });
  const stopping = new AbortController();
  for await (const _ of kube.watch(APPS, { resourceVersion: "1", signal: stopping.signal })) stopping.abort();
  time.ms = 1_000_000;
  expect(silences()).toEqual([]);
});
