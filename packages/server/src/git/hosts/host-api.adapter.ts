import { AddressRefused, createFetch, type Fetched, type FetchSettings, Unreachable } from "@binnacle/charts";
import type { HostCheck, HostKey, HostProblem } from "../git-host.ts";
import { GitProblem } from "../git-problem.ts";
import { scanHostKeys } from "../host-keys.adapter.ts";
import { sshAddressOf } from "../ssh-address.ts";
import { readPublicKey } from "../ssh-key.ts";

export interface HostApiSettings extends Pick<FetchSettings, "allowedHosts" | "resolve" | "timeoutMs"> {
  /** `https://git.example.com`, or that of the API where it has one of its own. */
  readonly url: string;
  /** The organization or group that the repositories belong to. */
  readonly owner: string;
  readonly token: string;
  /** `ssh://git@git.example.com`, where repositories are reached. */
  readonly sshUrl: string;
  /** Where `ssh-keyscan` is looked for. */
  readonly searchPath: string;
}

export interface Answer {
  readonly status: number;
  /** Undefined where the answer has no body, or not one of JSON. */
  readonly body: unknown;
}

type Method = "DELETE" | "GET" | "PATCH" | "POST";

export interface HostApi {
  /** Throws GitProblem for a host that is not reached and for a token that is refused. */
  readonly call: (method: Method, path: string, body?: object, signal?: AbortSignal) => Promise<Answer>;
  /** Every entry of a list that has pages. */
  readonly list: (path: string, signal?: AbortSignal) => Promise<readonly Record<string, unknown>[]>;
}

const MOST_ANSWER_BYTES = 1024 * 1024;
const PAGE = 50;
const MOST_PAGES = 40;
const REDIRECTED =
  "The Git host sends to another address, where the token is not sent. Give the address under which it answers itself.";

/** The API of a host. The token stands in a header only, and no text of the host is in an error. */
export function createHostApi(settings: HostApiSettings, headers: Readonly<Record<string, string>>): HostApi {
  const fetch = createFetch(settings);
  const base = settings.url.replace(/\/+$/, "");

  const call: HostApi["call"] = async (method, path, body, signal) => {
    const answer = await fetch(`${base}${path}`, {
      maxBytes: MOST_ANSWER_BYTES,
      staysAtAddress: true,
      headers: { accept: "application/json", ...(body ? { "content-type": "application/json" } : {}), ...headers },
      ...(method === "GET" ? {} : { method }),
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    }).catch(refused);
    const { status } = answer;
    if (status >= 300 && status < 400) throw new GitProblem("unexpected_answer", REDIRECTED);
    if (status === 401) {
      throw new GitProblem("denied", "The Git host does not accept the token. It may have expired; make a new one.");
    }
    if (status === 429 || status >= 500) {
      throw new GitProblem("unreachable", `The Git host answered ${status}. Try again later.`);
    }
    return { status, body: jsonOf(answer) };
  };

  return {
    call,
    async list(path, signal) {
      const all: Record<string, unknown>[] = [];
      for (let page = 1; page <= MOST_PAGES; page++) {
        const { status, body } = await call(
          "GET",
          `${path}?per_page=${PAGE}&limit=${PAGE}&page=${page}`,
          undefined,
          signal,
        );
        if (status === 404) return all;
        if (status !== 200 || !Array.isArray(body)) throw unexpected("a list", status);
        all.push(...body.filter((entry) => typeof entry === "object" && entry !== null));
        if (body.length === 0) break;
      }
      return all;
    },
  };
}

function refused(error: unknown): never {
  if (error instanceof AddressRefused) {
    throw new GitProblem("address_refused", "The server of Binnacle may not connect to the address of the Git host.");
  }
  if (error instanceof Unreachable)
    throw new GitProblem("unreachable", `The Git host cannot be used: ${error.message}.`);
  throw error;
}

function jsonOf({ body }: Fetched): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** For an answer that says neither yes nor a no that is known. */
export function unexpected(wanted: string, status: number): GitProblem {
  if (status === 403 || status === 404) {
    return new GitProblem("denied", `The token may not use ${wanted} of the Git host, or there is none.`);
  }
  return new GitProblem("unexpected_answer", `The Git host answered ${status} where ${wanted} was expected.`);
}

export const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;

/** The id of the entry with this key, which hosts give without its comment or with it. */
export function keyIdIn(entries: readonly Record<string, unknown>[], publicKey: string): string | null {
  const wanted = keyOf(publicKey).line;
  const found = entries.find(({ key }) => typeof key === "string" && readPublicKey(key)?.line === wanted);
  return found ? idOf(found) : null;
}

export function keyOf(publicKey: string) {
  const key = readPublicKey(publicKey);
  if (!key) throw new GitProblem("not_set_up", "The deploy key is not a public key of OpenSSH.");
  return key;
}

export function idOf(body: unknown): string {
  const id = fieldOf(body, "id");
  if (typeof id === "number" && Number.isSafeInteger(id)) return String(id);
  throw new GitProblem("unexpected_answer", "The Git host gave no id.");
}

/** An id is part of an address. */
export function checkedId(id: string): string {
  if (!/^\d{1,15}$/.test(id)) throw new Error("The id of a deploy key has digits.");
  return id;
}

/** Does what the checks of all hosts do: the keys of SSH, and the problems that the API shows. */
export async function checkHost(
  settings: HostApiSettings,
  problemsOf: () => Promise<readonly HostProblem[]>,
  signal?: AbortSignal,
): Promise<HostCheck> {
  const problems: HostProblem[] = [];
  let hostKeys: readonly HostKey[] = [];
  const collect = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof GitProblem)) throw error;
      problems.push({ code: error.code, message: error.message });
    }
  };
  await collect(async () => {
    hostKeys = await scanHostKeys(sshAddressOf(settings.sshUrl), settings, signal);
  });
  await collect(async () => void problems.push(...(await problemsOf())));
  return { problems, hostKeys };
}
