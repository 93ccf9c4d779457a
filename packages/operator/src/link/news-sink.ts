import type { OperatorFrames } from "@binnacle/contract";

export type BuildNews = Omit<OperatorFrames["build"], "type" | "session">;
export type SampleNews = Omit<OperatorFrames["samples"], "type" | "session">;

/**
 * Takes what is told once and not asked for again. While the hub is away, of each build the newest state is kept, and
 * samples are lost: they are about a moment that is over.
 */
export interface NewsSink {
  build(news: BuildNews): void;
  samples(news: SampleNews): void;
}
