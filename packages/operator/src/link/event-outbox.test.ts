import { expect, test, vi } from "vitest";
import { createEventOutbox } from "./outbox.ts";
import type { BuildEvent, SampleEvent } from "./ports.ts";

const build = (name: string, state: BuildEvent["state"]): BuildEvent => ({
  namespace: "shop",
  name,
  source: "shipwright",
  state,
  reason: null,
  message: null,
  image: null,
  started_at: null,
  finished_at: null,
});
const samples: SampleEvent = {
  at: "2026-01-31T09:30:00.000Z",
  used: null,
  capacity: { cpu_cores: 4, memory_bytes: 8e9 },
  components: [],
};

test("[OL34] of each build the newest state is kept while the hub is away, and samples are not", () => {
  const events = createEventOutbox();
  events.build(build("a", "pending"));
  events.build(build("b", "running"));
  events.build(build("a", "succeeded"));
  events.samples(samples);
  events.lost();
  expect([events.next(), events.next(), events.next()]).toMatchObject([
    { type: "build", name: "b", state: "running" },
    { type: "build", name: "a", state: "succeeded" },
    null,
  ]);
});

test("[OL34] samples of an earlier moment are replaced by later ones", () => {
  const events = createEventOutbox();
  events.onDue = vi.fn();
  events.samples(samples);
  events.samples({ ...samples, at: "2026-01-31T09:31:00.000Z" });
  expect(events.onDue).toHaveBeenCalledTimes(2);
  expect(events.next()).toEqual({ type: "samples", ...samples, at: "2026-01-31T09:31:00.000Z" });
  expect(events.next()).toBeNull();
});

test("[OL34] with very many builds the oldest events are dropped", () => {
  const events = createEventOutbox();
  for (let i = 0; i < 1_001; i += 1) events.build(build(`b${i}`, "running"));
  expect(events.next()).toMatchObject({ name: "b1" });
});
