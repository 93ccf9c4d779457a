/** Lets a few in at a time and keeps the rest in line, as long as the line is not too long. */
export class AdmissionGate {
  readonly #atOnce: number;
  readonly #longestLine: number;
  #inside = 0;
  readonly #line: (() => void)[] = [];

  constructor(atOnce: number, longestLine: number) {
    this.#atOnce = atOnce;
    this.#longestLine = longestLine;
  }

  /** Null for whoever is to come again later. Each one that is let in leaves once. */
  enter(): Promise<void> | null {
    if (this.#inside < this.#atOnce) {
      this.#inside += 1;
      return Promise.resolve();
    }
    if (this.#line.length >= this.#longestLine) return null;
    return new Promise((resolve) => this.#line.push(resolve));
  }

  leave(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#inside -= 1;
  }
}

const SHORTEST_RETRY_SECONDS = 1;
const LONGEST_RETRY_SECONDS = 10;

/** The reason of a close as busy: spread out, so that those who are sent away together do not come back together. */
export function retryReason(random: number): string {
  const seconds = SHORTEST_RETRY_SECONDS + random * (LONGEST_RETRY_SECONDS - SHORTEST_RETRY_SECONDS);
  return JSON.stringify({ retry_after_seconds: Math.round(seconds * 10) / 10 });
}
