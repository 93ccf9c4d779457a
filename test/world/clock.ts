/** A clock that stands still until a test turns it. */
export class TestClock {
  #now: number;

  constructor(start = Date.now()) {
    this.#now = start;
  }

  readonly now = (): Date => new Date(this.#now);

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
