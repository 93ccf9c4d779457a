/** Loaded before the server: its process has a clock that is so many milliseconds ahead, or behind. */
const OFF_MS = Number(new URL(import.meta.url).searchParams.get("ms"));
const now = Date.now.bind(Date);

class SkewedDate extends Date {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [now() + OFF_MS] : given) as []));
  }
  static override now = (): number => now() + OFF_MS;
}
globalThis.Date = SkewedDate as DateConstructor;
