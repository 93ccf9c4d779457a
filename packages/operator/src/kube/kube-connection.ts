/** A request as it is sent: its path with the query, its body as text. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
}

/** The head of an answer, with its body still to be read. */
export interface KubeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array> & {
    text(): Promise<string>;
    /** For a body that nobody wants. */
    dump(): Promise<void>;
  };
}

/** What carries requests to an API server and answers back. */
export interface KubeConnection {
  request(request: SentRequest): Promise<KubeAnswer>;
}
