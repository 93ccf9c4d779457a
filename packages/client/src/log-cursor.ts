/** One line of a container's output. */
export interface LogLine {
  readonly component: string;
  readonly pod: string;
  readonly container: string;
  readonly time: string;
  readonly line: string;
}

interface Position {
  readonly ms: number;
  /** How many lines of this very instant were passed on. */
  readonly count: number;
  /** How many of those the stream will bring again. */
  toSkip: number;
  isCatchingUp: boolean;
}

const MOST_CONTAINERS = 1_000;
const MOST_LINES = 10_000;
/** Lines that were on their way when the connection broke off. */
const MARGIN_SECONDS = 5;

/** How far each container's output was read, so that a stream that is opened again brings no line twice. */
export class LogCursor {
  readonly #positions = new Map<string, Position>();
  #lastAtMs: number;

  constructor(nowMs: number) {
    this.#lastAtMs = nowMs;
  }

  /** Whether the line was not passed on before. */
  take(line: LogLine, nowMs: number): boolean {
    const key = `${line.pod}/${line.container}`;
    const ms = Date.parse(line.time);
    const at = this.#positions.get(key);
    if (at?.isCatchingUp) {
      if (ms < at.ms) return false;
      if (ms === at.ms && at.toSkip > 0) {
        at.toSkip--;
        return false;
      }
    }
    this.#lastAtMs = nowMs;
    if (at && ms < at.ms) return true;
    this.#positions.delete(key);
    this.#positions.set(key, { ms, count: ms === at?.ms ? at.count + 1 : 1, toSkip: 0, isCatchingUp: false });
    // Pods come and go: the containers that have been silent for longest are forgotten first.
    const [oldest] = this.#positions.keys();
    if (oldest !== undefined && this.#positions.size > MOST_CONTAINERS) this.#positions.delete(oldest);
    return true;
  }

  /** What to ask for when the stream is opened again: a time, since the clock of the cluster may be another. */
  resume(nowMs: number): { since_seconds: number; tail_lines: number } {
    for (const at of this.#positions.values()) {
      at.isCatchingUp = true;
      at.toSkip = at.count;
    }
    const elapsed = Math.max(0, Math.ceil((nowMs - this.#lastAtMs) / 1000));
    return { since_seconds: elapsed + MARGIN_SECONDS, tail_lines: MOST_LINES };
  }
}
