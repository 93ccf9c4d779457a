const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Of a text that the contract's `RangeQuery` takes. */
export const rangeSeconds = (range: string) => Number(range.slice(0, -1)) * (UNIT_SECONDS[range.slice(-1)] ?? 0);
