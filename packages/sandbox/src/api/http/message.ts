/** A request as the API reads it, however it has come. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query, not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Where an answer without an end goes. */
export interface Sink {
  write(text: string): void;
  end(): void;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of a body. Begins to write, and returns how to stop when nobody reads any more. */
  readonly stream?: (sink: Sink) => () => void;
}

const JSON_TYPE = { "content-type": "application/json" };

export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiResponse => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(value),
});

export const text = (status: number, body: string): ApiResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body,
});

export const streaming = (stream: (sink: Sink) => () => void, type = "application/json"): ApiResponse => ({
  status: 200,
  headers: { "content-type": type },
  stream,
});
