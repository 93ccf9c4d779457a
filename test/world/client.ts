import { follow } from "./follow.ts";

export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

export interface Sending {
  readonly body?: unknown;
  readonly form?: Record<string, string>;
  /** As multipart/form-data. */
  readonly parts?: Record<string, string | Blob>;
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** A frame of a stream of server-sent events, its data parsed; a comment is a frame with nothing but itself. */
export interface Frame {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: data is whatever the server says; tests assert on it
  readonly data: any;
  readonly comment?: string;
  readonly id?: string;
}

/** Speaks to the API as any client does, over a socket, and takes every answer as it comes. */
export class Client {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string> = {}) {
    this.#base = base;
    this.#headers = headers;
  }

  with(headers: Record<string, string>): Client {
    return new Client(this.#base, { ...this.#headers, ...headers });
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the server says; tests assert on it
  async send<T = any>(method: string, path: string, sending: Sending = {}): Promise<Answer<T>> {
    const headers: Record<string, string> = { ...this.#headers, ...sending.headers };
    let body: string | Uint8Array | FormData | undefined;
    if (sending.raw !== undefined) body = sending.raw;
    else if (sending.parts) body = formOf(sending.parts);
    else if (sending.form) {
      body = new URLSearchParams(sending.form).toString();
      headers["content-type"] ??= "application/x-www-form-urlencoded";
    } else if (sending.body !== undefined) {
      body = JSON.stringify(sending.body);
      headers["content-type"] ??= "application/json";
    }
    const response = await fetch(this.#base + path, { method, headers, ...(body === undefined ? {} : { body }) });
    // A stream ends when its reader leaves; `follow` is for those who want to read one.
    if (isStream(response)) await response.body?.cancel();
    const text = isStream(response) ? "" : await response.text();
    return { status: response.status, body: parsed(text), headers: response.headers };
  }

  /** Opens a stream of server-sent events. */
  follow = (path: string) => follow(this.#base + path, this.#headers);
  get = (path: string, sending?: Sending) => this.send("GET", path, sending);
  post = (path: string, body?: unknown, sending: Sending = {}) => this.send("POST", path, { ...sending, body });
  put = (path: string, body?: unknown) => this.send("PUT", path, { body });
  patch = (path: string, body?: unknown) => this.send("PATCH", path, { body });
  delete = (path: string) => this.send("DELETE", path);
}

const isStream = ({ headers }: Response) => headers.get("content-type")?.startsWith("text/event-stream");

function formOf(parts: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) form.append(name, part);
  return form;
}

function parsed(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    return text as never;
  }
}
