import { expect, test, vi } from "vitest";
import { createNewsOutbox } from "./outbox.ts";
import type { BuildNews, SampleNews } from "./ports.ts";

const build = (name: string, state: BuildNews["state"]): BuildNews => ({
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
const samples: SampleNews = {
  at: "2026-01-31T09:30:00.000Z",
  used: null,
  capacity: { cpu_cores: 4, memory_bytes: 8e9 },
  components: [],
};

test("[OL34] of each build the newest state is kept while the hub is away, and samples are not", () => {
  const news = createNewsOutbox();
  news.build(build("a", "pending"));
  news.build(build("b", "running"));
  news.build(build("a", "succeeded"));
  news.samples(samples);
  news.lost();
  expect([news.next(), news.next(), news.next()]).toMatchObject([
    { type: "build", name: "b", state: "running" },
    { type: "build", name: "a", state: "succeeded" },
    null,
  ]);
});

test("[OL34] samples of an earlier moment give way to later ones", () => {
  const news = createNewsOutbox();
  news.onDue = vi.fn();
  news.samples(samples);
  news.samples({ ...samples, at: "2026-01-31T09:31:00.000Z" });
  expect(news.onDue).toHaveBeenCalledTimes(2);
  expect(news.next()).toEqual({ type: "samples", ...samples, at: "2026-01-31T09:31:00.000Z" });
  expect(news.next()).toBeNull();
});

test("[OL34] of very many builds the oldest news are forgotten", () => {
  const news = createNewsOutbox();
  for (let i = 0; i < 1_001; i += 1) news.build(build(`b${i}`, "running"));
  expect(news.next()).toMatchObject({ name: "b1" });
});
