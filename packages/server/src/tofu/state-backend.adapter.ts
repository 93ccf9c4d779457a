import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Saved } from "./infrastructure-state.store.ts";

/** Where the states of one run are kept. */
export interface StateKeeper {
  load(): Promise<string | null>;
  save(text: string): Promise<Saved>;
  /** Called when a state was refused because another worker holds the job. */
  onStale(): void;
}

export interface OpenedState {
  /** The variables with which OpenTofu finds the backend. The password is in them and on no command line. */
  readonly env: Readonly<Record<string, string>>;
  readonly password: string;
  close(): Promise<void>;
}

export interface StateBackend {
  open(keeper: StateKeeper): Promise<OpenedState>;
}

/** A state of a thousand machines has about 10 MB. */
const LONGEST_STATE_BYTES = 64 * 1_048_576;
const USERNAME = "binnacle";
/** Together about half a minute: a restart of the database fails no run. */
const RETRIES = { TF_HTTP_RETRY_MAX: "8", TF_HTTP_RETRY_WAIT_MIN: "1", TF_HTTP_RETRY_WAIT_MAX: "5" };

interface Run {
  readonly keeper: StateKeeper;
  readonly passwordHash: Buffer;
  /** The lock as OpenTofu described it, or null. */
  lock: { readonly id: string; readonly text: string } | null;
}

const hashOf = (text: string) => createHash("sha256").update(text).digest();

/**
 * The HTTP backend of OpenTofu, on the loopback interface. It listens while a run is open and not longer. The lock is that
 * of the one process of a run; that there is one run of a cluster is the queue's doing, and each write proves it again.
 */
export function createStateBackend(limitBytes = LONGEST_STATE_BYTES): StateBackend {
  const runs = new Map<string, Run>();
  let server: Promise<Server> | null = null;

  async function listen(): Promise<Server> {
    const created = createServer((request, response) => void answer(request, response));
    created.listen(0, "127.0.0.1");
    await once(created, "listening");
    return created;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const end = (status: number, body = "") => {
      if (status === 413 || status === 401) response.setHeader("connection", "close");
      response.writeHead(status, body ? { "content-type": "application/json" } : {}).end(body);
    };
    try {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
      const run = runs.get(pathname.slice(1));
      // The same answer for a run that is not known: whoever guesses learns nothing.
      if (!isAllowed(run, request.headers.authorization)) return end(401);
      const text = await bodyOf(request, limitBytes);
      if (text === null) return end(413);
      await serve(run, request.method ?? "", searchParams.get("ID"), text, end);
    } catch {
      // The database is away, or the client is. OpenTofu repeats the request after a 5xx.
      if (!response.headersSent) end(503);
    }
  }

  /** A failure to listen, such as too many open files, is that of one run; the next one tries again. */
  async function addressFor(id: string): Promise<AddressInfo> {
    server ??= listen();
    const attempt = server;
    try {
      return (await attempt).address() as AddressInfo;
    } catch (error) {
      runs.delete(id);
      if (server === attempt) server = null;
      throw error;
    }
  }

  return {
    async open(keeper) {
      const id = randomBytes(16).toString("hex");
      const password = randomBytes(32).toString("hex");
      runs.set(id, { keeper, passwordHash: hashOf(password), lock: null });
      const { port } = await addressFor(id);
      const address = `http://127.0.0.1:${port}/${id}`;
      return {
        password,
        env: {
          TF_HTTP_ADDRESS: address,
          TF_HTTP_LOCK_ADDRESS: address,
          TF_HTTP_UNLOCK_ADDRESS: address,
          TF_HTTP_USERNAME: USERNAME,
          TF_HTTP_PASSWORD: password,
          ...RETRIES,
        },
        async close() {
          if (!runs.delete(id) || runs.size > 0) return;
          const closing = await server;
          // Another run may have been opened meanwhile.
          if (runs.size > 0 || !closing) return;
          server = null;
          closing.close();
          closing.closeAllConnections();
          await once(closing, "close");
        },
      };
    },
  };
}

function isAllowed(run: Run | undefined, authorization = ""): run is Run {
  const given = Buffer.from(/^Basic (\S+)$/i.exec(authorization)?.[1] ?? "", "base64").toString("utf8");
  const password = given.startsWith(`${USERNAME}:`) ? given.slice(USERNAME.length + 1) : "";
  const isRight = timingSafeEqual(hashOf(password), run?.passwordHash ?? hashOf(randomBytes(32).toString("hex")));
  return run !== undefined && isRight;
}

type End = (status: number, body?: string) => void;

async function serve(run: Run, method: string, lockId: string | null, text: string, end: End): Promise<void> {
  switch (method) {
    case "GET": {
      const state = await run.keeper.load();
      return state === null ? end(404) : end(200, state);
    }
    case "POST": {
      if (run.lock && run.lock.id !== lockId) return end(423, run.lock.text);
      const saved = await run.keeper.save(text);
      if (saved === "stale") run.keeper.onStale();
      return end({ saved: 200, stale: 409, older: 409, invalid: 400 }[saved]);
    }
    case "LOCK": {
      const id = lockIdOf(text);
      if (id === null) return end(400);
      if (run.lock && run.lock.id !== id) return end(423, run.lock.text);
      run.lock = { id, text };
      return end(200);
    }
    case "UNLOCK": {
      if (run.lock && run.lock.id !== lockIdOf(text)) return end(423, run.lock.text);
      run.lock = null;
      return end(200);
    }
    default:
      return end(405);
  }
}

function lockIdOf(text: string): string | null {
  try {
    const id = (JSON.parse(text) as { ID?: unknown } | null)?.ID;
    return typeof id === "string" && id !== "" ? id : null;
  } catch {
    return null;
  }
}

/** Returns null for a body that is too long. */
async function bodyOf(request: IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
