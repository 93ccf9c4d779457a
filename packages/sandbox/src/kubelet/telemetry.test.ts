import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogLine } from "../api/ports.ts";
import { barePod } from "../controllers/objects.fixture.ts";
import { START_MS } from "../controllers/virtual-time.fixture.ts";
import { World } from "../controllers/world.fixture.ts";
import { type ContainerRun, LINES_KEPT, linesUntil, nextLineMs } from "./log-lines.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const place = (previous = false) => ({ pod: world.get("pods", "one"), container: "main", previous });
const RUN: ContainerRun = {
  seed: "seed",
  pod: "one",
  container: "main",
  image: "web:1",
  startedMs: START_MS,
  endedMs: null,
  exitCode: 0,
  endReason: "",
};

describe("the log of a container", () => {
  test("[SC60] the log of a container says first that it is simulated, goes on, and is the same for all readers", async () => {
    world.create("pods", barePod("one"));
    await world.pass(0);
    expect(world.logs.read(place())).toBeNull();
    await world.pass(61);
    const lines = world.logs.read(place()) ?? [];
    expect(lines[0]?.text).toContain("simulated");
    expect(lines.length).toBeGreaterThan(30);
    expect(world.logs.read(place())).toEqual(lines);
    await world.pass(60);
    expect(world.logs.read(place())?.slice(0, lines.length)).toEqual(lines);
  });

  test("[SC60] the log of a container is in order, has no gaps for followers, and is limited in lines", () => {
    const all = linesUntil(RUN, START_MS + 600_000);
    expect(all.map(({ atMs }) => atMs)).toEqual(all.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    let atMs = START_MS - 1;
    for (const line of all) {
      atMs = nextLineMs(RUN, atMs) ?? 0;
      expect(atMs).toBe(line.atMs);
    }
    expect(linesUntil(RUN, START_MS + 30 * 86_400_000).length).toBeLessThanOrEqual(LINES_KEPT);
  });

  test("[SC61] the log of a container is followed line by line until its pod is gone", async () => {
    world.create("pods", barePod("one"));
    await world.pass(5);
    const before = world.logs.read(place()) ?? [];
    const lines: (LogLine | null)[] = [];
    world.logs.follow(place(), (line) => lines.push(line));
    await world.pass(30);
    expect([...before, ...lines]).toEqual(world.logs.read(place()));
    world.store.delete("pods", "one", "default");
    await world.pass(1);
    expect(lines.at(-1)).toBeNull();
    const { length } = lines;
    await world.pass(60);
    expect(lines).toHaveLength(length);
    expect(world.time.alarms).toBe(0);
  });

  test("[SC61] no lines are generated for a follower who has left", async () => {
    world.create("pods", barePod("one"));
    await world.pass(5);
    const lines: (LogLine | null)[] = [];
    const stop = world.logs.follow(place(), (line) => lines.push(line));
    await world.pass(5);
    const { length } = lines;
    expect(length).toBeGreaterThan(1);
    stop();
    await world.pass(60);
    expect(lines).toHaveLength(length);
    expect(world.time.alarms).toBe(0);
  });

  test("[SC61] the log of a container ends for its followers when the cluster stops", async () => {
    world.create("pods", barePod("one"));
    await world.pass(5);
    const lines: (LogLine | null)[] = [];
    world.logs.follow(place(), (line) => lines.push(line));
    world.stop();
    expect(lines).toEqual([null]);
    expect(world.time.alarms).toBe(0);
  });

  test("[SC62] the log of a crashed container ends with the exit code, and becomes the previous log", async () => {
    world.create("pods", barePod("one", { annotations: { "sandbox.binnacle.dev/fate": "crash" } }));
    await world.pass(3);
    expect(world.logs.read(place())?.at(-1)?.text).toContain("exit_code=1");
    await world.pass(10);
    const last = world.logs.read(place(true)) ?? [];
    expect(last.at(-1)?.text).toContain("exit_code=1");
    expect(world.logs.read(place())?.at(-1)?.text).not.toContain("exit_code");
  });

  test.each(["sandbox-log-one", "sandbox-log"])(
    "[SC63] the log of a container is what the ConfigMap %s says, for its followers too",
    async (name) => {
      world.create("pods", barePod("one"));
      await world.pass(5);
      const log = "2026-01-31T09:30:00Z one\n2026-01-31T09:30:01.5Z two\nand more of it\n";
      const metadata = { name, namespace: "default" };
      world.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { log } });
      const secondMs = Date.parse("2026-01-31T09:30:01.500Z");
      expect(world.logs.read(place())).toEqual([
        { atMs: Date.parse("2026-01-31T09:30:00Z"), text: "one" },
        { atMs: secondMs, text: "two" },
        { atMs: secondMs, text: "and more of it" },
      ]);
      const lines: (LogLine | null)[] = [];
      world.logs.follow(place(), (line) => lines.push(line));
      await world.pass(60);
      expect(lines).toEqual([]);
      world.store.patch("configmaps", name, "default", { data: { log: `${log}2026-01-31T09:30:02Z three\n` } });
      await world.pass(0);
      expect(lines).toMatchObject([{ text: "three" }]);
      world.store.delete("pods", "one", "default");
      await world.pass(1);
      expect(lines).toMatchObject([{ text: "three" }, null]);
    },
  );

  test("[SC61] the log of a container ends for a follower when the container ends", async () => {
    world.create("pods", barePod("one", { annotations: { "sandbox.binnacle.dev/fate": "fail" } }));
    await world.pass(1);
    const lines: (LogLine | null)[] = [];
    world.logs.follow(place(), (line) => lines.push(line));
    await world.pass(5);
    expect(lines.slice(-2)).toEqual([expect.objectContaining({ text: expect.stringContaining("exit_code=1") }), null]);
  });
});

describe("usage", () => {
  test("[SC65] the usage of a pod moves smoothly, stays below its requests, and is the same for all readers", async () => {
    const object = barePod("one");
    const resources = { requests: { cpu: "100m", memory: "64Mi" } };
    world.create("pods", { ...object, spec: { containers: [{ name: "main", image: "web:1", resources }] } });
    await world.pass(0);
    expect(world.usage.pod(world.get("pods", "one"))).toBeNull();
    await world.pass(1);
    const seen: number[] = [];
    for (let second = 0; second < 600; second++) {
      const [container] = world.usage.pod(world.get("pods", "one"))?.containers ?? [];
      expect(container?.memoryBytes).toBeLessThan(64 * 2 ** 20);
      seen.push(container?.cpuNanocores ?? 0);
      await world.pass(1);
    }
    expect(Math.max(...seen)).toBeLessThan(60_000_000);
    expect(Math.min(...seen)).toBeGreaterThan(5_000_000);
    expect(Math.max(...seen) - Math.min(...seen)).toBeGreaterThan(5_000_000);
    const steps = seen.slice(1).map((value, index) => Math.abs(value - (seen[index] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(2_000_000);
  });

  test.each(["kwok.x-k8s.io", "sandbox.binnacle.dev"])(
    "[SC66] the usage of a pod is what %s/usage-cpu and usage-memory say",
    async (prefix) => {
      const annotations = { [`${prefix}/usage-cpu`]: "250m", [`${prefix}/usage-memory`]: "64Mi" };
      world.create("pods", barePod("one", { annotations }));
      await world.pass(1);
      expect(world.usage.pod(world.get("pods", "one"))?.containers).toEqual([
        { name: "main", cpuNanocores: 250_000_000, memoryBytes: 64 * 2 ** 20 },
      ]);
      const node = world.get(
        "nodes",
        String((world.get("pods", "one")["spec"] as { nodeName: string }).nodeName),
        null,
      );
      expect(world.usage.node(node)).toMatchObject({ cpuNanocores: 370_000_000, memoryBytes: 464 * 2 ** 20 });
    },
  );
});
