import type { ApiResponse } from "../../packages/sandbox/src/api/http/message.ts";
import type { HeldApp } from "./comparison.ts";

/** A cluster as the control plane has registered it. */
export interface FleetCluster {
  readonly id: string;
  readonly token: string;
}

export interface Launch {
  readonly hubUrl: string;
  readonly clusters: readonly FleetCluster[];
}

/** A request to a worker process. */
export type Ask = { readonly launch: Launch } | "state" | "held" | "stop";

export interface WorkerState {
  /** Clusters whose operator has started. */
  readonly started: number;
  readonly failures: readonly string[];
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** How often operators have warned of what. */
  readonly warnings: Readonly<Record<string, number>>;
}

export type Answer = { readonly state: WorkerState } | { readonly held: readonly HeldApp[] } | "stopped";

type Stream = NonNullable<ApiResponse["stream"]>;

/** An answer without an end, for one reader. What it writes waits until it is read; the signal breaks it off. */
export class TextStream implements AsyncIterable<Uint8Array> {
  readonly #written: string[] = [];
  readonly #signal: AbortSignal | null;
  readonly #stop: () => void;
  #hasEnded = false;
  #wake: (() => void) | null = null;

  constructor(stream: Stream, signal: AbortSignal | null) {
    this.#signal = signal;
    this.#stop = stream({
      write: (text) => {
        this.#written.push(text);
        this.#wake?.();
      },
      end: () => this.#end(),
    });
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        this.#signal?.throwIfAborted();
        const texts = this.#written.splice(0);
        if (texts.length > 0) yield Buffer.from(texts.join(""));
        else if (this.#hasEnded) return;
        else await this.#news();
      }
    } finally {
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.#stop();
    }
  }

  readonly #onAbort = (): void => {
    this.#stop();
    this.#end();
  };

  #end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
  }
}
