import type { NewsSink, SampleNews } from "./news-sink.ts";
import type { Unsent, UnsentOf } from "./unsent.ts";

/** Builds whose state is not told yet; beyond these the oldest is forgotten. */
const MOST_BUILDS = 1_000;

export interface NewsOutbox extends NewsSink {
  /** Called whenever there is something to send. */
  onDue: () => void;
  next(): Unsent | null;
  /** The hub is away. */
  lost(): void;
}

export function createNewsOutbox(): NewsOutbox {
  const builds = new Map<string, UnsentOf<"build">>();
  let samples: SampleNews | null = null;

  const outbox: NewsOutbox = {
    onDue: () => undefined,

    build(news) {
      const name = `${news.source}/${news.namespace}/${news.name}`;
      // Moved to the end, so that the oldest news is at the front.
      builds.delete(name);
      builds.set(name, { type: "build", ...news });
      const [oldest] = builds.keys();
      if (builds.size > MOST_BUILDS && oldest !== undefined) builds.delete(oldest);
      outbox.onDue();
    },

    samples(news) {
      samples = news;
      outbox.onDue();
    },

    next() {
      const [build] = builds;
      if (build) {
        builds.delete(build[0]);
        return build[1];
      }
      if (!samples) return null;
      const frame: UnsentOf<"samples"> = { type: "samples", ...samples };
      samples = null;
      return frame;
    },

    lost() {
      samples = null;
    },
  };
  return outbox;
}
