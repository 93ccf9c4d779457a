/** Whatever is in the order of its instants. */
export interface Instant {
  readonly instant: string;
}

/** Items of many sources in one order, as far as each source is in order. Holds no more than one of each. */
export async function* mergedByTime<T extends Instant>(sources: readonly AsyncIterator<T>[]): AsyncGenerator<T> {
  try {
    const heads = await Promise.all(sources.map(async (source) => ({ source, ...(await source.next()) })));
    let waiting = heads.filter(({ done }) => !done);
    for (;;) {
      const earliest = waiting.reduce<(typeof waiting)[number] | null>(
        (best, head) => (best && best.value.instant <= head.value.instant ? best : head),
        null,
      );
      if (!earliest) return;
      yield earliest.value;
      const next = await earliest.source.next();
      if (next.done) waiting = waiting.filter((head) => head !== earliest);
      else earliest.value = next.value;
    }
  } finally {
    await Promise.all(sources.map(async (source) => source.return?.()));
  }
}
