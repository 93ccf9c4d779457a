import { setTimeout } from "node:timers/promises";
import { basicAuthorization, challengeOf, tokenAddress, tokenIn } from "@binnacle/charts";
import type { RegistryCredential } from "./registry-credential.ts";

/** The registry will answer the same again. The message is for the person who pushes. */
export class RegistryRefused extends Error {
  override readonly name = "RegistryRefused";
}

/** The registry may answer otherwise later. */
class RegistryAway extends Error {
  override readonly name = "RegistryAway";
  readonly afterMs: number;
  constructor(message: string, afterMs = 0) {
    super(message);
    this.afterMs = afterMs;
  }
}

interface RegistryRequest {
  readonly method: "HEAD" | "POST" | "PUT";
  /** A path of the registry, or the address that it has given for an upload. */
  readonly url: string;
  /** Repositories that it is about, with what is done to them, such as `repository:binnacle/cli:pull,push`. */
  readonly scopes: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** It can be read several times. */
  readonly body?: Blob;
}

interface RegistryConnection {
  /** Such as `https://registry.example.com`. */
  readonly origin: string;
  readonly credential: RegistryCredential | null;
  readonly pause?: (ms: number) => Promise<unknown>;
}

export interface RegistryClient {
  /** Answers that a caller can act on; all others are thrown. */
  send(request: RegistryRequest): Promise<Response>;
  /** Repeats work that failed because the registry was away or busy. */
  retried<T>(work: () => Promise<T>): Promise<T>;
}

const MOST_ATTEMPTS = 6;
const LONGEST_PAUSE_MS = 30_000;
const LONGEST_REASON = 300;

/** Requests to one registry, by the OCI distribution specification, with the authorization that it asks for. */
export function registryClient({ origin, credential, pause = setTimeout }: RegistryConnection): RegistryClient {
  const { host } = new URL(origin);
  const authorizations = new Map<string, string>();

  async function send(request: RegistryRequest): Promise<Response> {
    const url = new URL(request.url, origin);
    if (url.protocol !== new URL(origin).protocol)
      throw new RegistryRefused(`${host} wants the upload over ${url.protocol}// and was reached otherwise.`);
    let answer = await sent(url, request);
    if (answer.status === 401 && url.origin === origin) {
      await answer.body?.cancel();
      await authorize(answer, request.scopes);
      answer = await sent(url, request);
    }
    return judged(answer);
  }

  function sent(url: URL, { method, headers, body, scopes }: RegistryRequest): Promise<Response> {
    // Nothing of ours is told to the storage that a registry sends uploads to.
    const authorization = url.origin === origin ? authorizations.get(scopes.join(" ")) : undefined;
    return fetch(url, {
      method,
      redirect: method === "HEAD" ? "follow" : "manual",
      headers: { "user-agent": "binnacle", ...headers, ...(authorization ? { authorization } : {}) },
      ...(body ? { body } : {}),
    }).catch((error: Error) => {
      throw unreachable(host, error);
    });
  }

  async function authorize({ headers }: Response, scopes: readonly string[]): Promise<void> {
    const challenge = challengeOf(headers.get("www-authenticate") ?? "");
    if (challenge?.scheme === "bearer")
      authorizations.set(scopes.join(" "), `Bearer ${await token(challenge, scopes)}`);
    else if (challenge && credential) authorizations.set(scopes.join(" "), basicAuthorization(credential));
  }

  async function token(challenge: Parameters<typeof tokenAddress>[0], scopes: readonly string[]): Promise<string> {
    if (challenge.realm.protocol !== "https:" && origin.startsWith("https:"))
      throw new RegistryRefused(`${host} gives its tokens over plain HTTP, where the password could be read.`);
    const headers = credential ? { authorization: basicAuthorization(credential) } : {};
    const answer = await fetch(tokenAddress(challenge, scopes), { headers }).catch((error: Error) => {
      throw unreachable(challenge.realm.host, error);
    });
    const given = tokenIn((await (await judged(answer)).json().catch(() => ({}))) as object);
    if (given === null) throw new RegistryRefused(`${challenge.realm.host} gives no token.`);
    return given;
  }

  async function judged(answer: Response): Promise<Response> {
    const { status } = answer;
    if (status < 300 || status === 404) return answer;
    const reason = await reasonOf(answer);
    if (status === 429 || status >= 500) throw new RegistryAway(`${host} answered ${status}${reason}`, afterMs(answer));
    if (status === 401 || status === 403)
      throw new RegistryRefused(
        `${host} does not allow it (${status}${reason}). Sign in with docker login ${host}, or set REGISTRY_USERNAME and REGISTRY_PASSWORD.`,
      );
    throw new RegistryRefused(`${host} answered ${status}${reason}`);
  }

  async function retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof RegistryAway) || attempt === MOST_ATTEMPTS) throw error;
        await pause(Math.min(Math.max(error.afterMs, 500 * 2 ** attempt), LONGEST_PAUSE_MS));
      }
    }
  }

  return { send, retried };
}

const afterMs = ({ headers }: Response) => (Number(headers.get("retry-after")) || 0) * 1_000;

/** The first error of the distribution specification, where the answer has one. */
async function reasonOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => null)) as { errors?: { code?: unknown; message?: unknown }[] } | null;
  const [first] = body?.errors ?? [];
  return first ? `: ${`${String(first.code)} ${String(first.message)}`.slice(0, LONGEST_REASON)}` : "";
}

/** A name that does not resolve and a certificate that is not trusted stay so; a connection that breaks may not. */
function unreachable(host: string, error: Error): Error {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  const code = cause?.code ?? "";
  if (code === "ENOTFOUND") return new RegistryRefused(`The name ${host} does not resolve.`);
  if (/CERT|SELF_SIGNED|ISSUER/.test(code))
    return new RegistryRefused(
      `The certificate of ${host} is not trusted (${code}). Name the file of its authority by NODE_EXTRA_CA_CERTS.`,
    );
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code))
    return new RegistryRefused(`${host} does not speak TLS. Say --insecure to push over plain HTTP.`);
  return new RegistryAway(`${host} was not reached: ${code || (cause ?? error).message}`);
}
