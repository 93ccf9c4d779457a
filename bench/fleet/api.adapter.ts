import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

const RETRY_MS = 500;
const RETRIED_FOR_MS = 300_000;
const AWAY = new Set([502, 503, 504]);
const ITEMS_PER_PAGE = 100;

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface Api {
  /** Repeats itself while the control plane is away. The answer is the body of a success; all else is thrown. */
  send<T>(method: string, path: string, body?: object): Promise<T>;
  /** A list as a whole. */
  all<T>(path: string): Promise<T[]>;
  /** Opens a stream once; the caller repeats it. */
  open(path: string, signal: AbortSignal): Promise<Response>;
}

export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Speaks to the API as a person who is signed in, and signs in again when that has run out. With the signal all requests
 * fail, also those that wait.
 */
export async function signIn(url: string, credentials: Credentials, signal: AbortSignal | null = null): Promise<Api> {
  const base = `${url}/api/v1`;
  let token = await login().catch((error: unknown) => {
    if (error instanceof ApiRefusal || signal?.aborted) throw error;
    throw new Error(`Nobody answers at ${url}.`);
  });

  async function login(): Promise<string> {
    const body = new URLSearchParams({ ...credentials });
    const answer = await fetch(`${base}/login`, { method: "POST", body, signal });
    if (!answer.ok) throw new ApiRefusal(answer.status, `Nobody could sign in at ${url} (${answer.status}).`);
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  const authorized = () => ({ authorization: `Bearer ${token}` });

  async function send<T>(method: string, path: string, body?: object): Promise<T> {
    // A request whose answer was lost on the way is not done twice.
    const key: Record<string, string> = method === "POST" ? { "idempotency-key": randomUUID() } : {};
    const type: Record<string, string> = body ? { "content-type": "application/json" } : {};
    const ask = () =>
      patiently(signal, () =>
        fetch(base + path, {
          method,
          signal,
          headers: { ...authorized(), ...key, ...type },
          ...(body ? { body: JSON.stringify(body) } : {}),
        }),
      );
    let answer = await ask();
    if (answer.status === 401) {
      await answer.body?.cancel();
      token = await login();
      answer = await ask();
    }
    const text = await answer.text();
    if (!answer.ok)
      throw new ApiRefusal(
        answer.status,
        `${method} ${path} was answered with ${answer.status}: ${text.slice(0, 500)}`,
      );
    return (text === "" ? null : JSON.parse(text)) as T;
  }

  return {
    send,
    async all<T>(path: string) {
      const items: T[] = [];
      for (let page = 1; ; page += 1) {
        const query = `${path.includes("?") ? "&" : "?"}page=${page}&items_per_page=${ITEMS_PER_PAGE}`;
        const { data, has_more } = await send<{ data: T[]; has_more: boolean }>("GET", path + query);
        items.push(...data);
        if (!has_more) return items;
      }
    },
    open: (path, ending) => fetch(base + path, { headers: authorized(), signal: ending }),
  };
}

async function patiently(signal: AbortSignal | null, ask: () => Promise<Response>): Promise<Response> {
  const until = performance.now() + RETRIED_FOR_MS;
  for (;;) {
    try {
      const answer = await ask();
      if (!AWAY.has(answer.status) || performance.now() > until) return answer;
      await answer.body?.cancel();
    } catch (error) {
      if (signal?.aborted || performance.now() > until) throw error;
    }
    await pause(RETRY_MS, undefined, signal ? { signal } : {});
  }
}
