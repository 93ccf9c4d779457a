/** Values that a span may carry: names, ids and numbers, never a secret, an address with its query, or a body. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** `server` answers a request from outside; everything else is `internal`. */
  readonly kind?: "server" | "internal";
  /** The `traceparent` of the span that caused this one. A span without a valid one begins a trace. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
  /** Milliseconds since 1970, where the span began before it was known. */
  readonly startedAtMs?: number;
}

/** A piece of work within a trace. It is sent once it has ended. */
export interface Span {
  /** As W3C Trace Context writes it. Other processes continue the trace from it. */
  readonly traceparent: string;
  readonly traceId: string;
  set(attributes: Attributes): void;
  child(name: string, options?: Omit<SpanOptions, "parent">): Span;
  /** A failure marks the span as an error. It is a fixed sentence: the messages of errors may hold secrets. */
  end(failure?: string | null): void;
}

/**
 * Records spans. Where tracing is off there is no tracer, and callers hold null: a request then costs one comparison, and
 * nothing of OpenTelemetry is loaded.
 */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
  /** Sends what is left, for at most two seconds. */
  stop(): Promise<void>;
}
