import { Unauthenticated } from "./errors.ts";

/** The tokens of a login. A browser keeps the refresh token in a cookie that no script can read; it is then left out. */
export interface SessionTokens {
  readonly accessToken?: string;
  readonly refreshToken?: string;
}

/** Why there is no session any more: by `logout`, because the server refused it, or because the browser's cookie is of somebody else. */
export type SessionEnd = "signed_out" | "refused" | "of_another";

export interface Credentials {
  /** What to send with the next request; null is nothing. */
  current(): Promise<string | null>;
  /** Another one after this one was refused; null where there is none. */
  renewed(rejected: string | null): Promise<string | null>;
}

export type GetCredential = (about: {
  /** The credential that the server has just refused, so that it is not given again. */
  readonly rejected: string | null;
}) => string | null | Promise<string | null>;

export const fixedToken = (token: string): Credentials => ({
  current: async () => token,
  renewed: async () => null,
});

/** The callers whose requests were refused at the same time wait for one answer. */
export function askedFor(getCredential: GetCredential): Credentials {
  const pending = new Map<string | null, Promise<string | null>>();
  return {
    current: async () => await getCredential({ rejected: null }),
    async renewed(rejected) {
      const asked = pending.get(rejected) ?? Promise.resolve(getCredential({ rejected }));
      pending.set(rejected, asked);
      try {
        const token = await asked;
        return token === rejected ? null : token;
      } finally {
        if (pending.get(rejected) === asked) pending.delete(rejected);
      }
    },
  };
}

export interface SessionPorts {
  /** Exchanges the refresh token, or the browser's cookie, for an access token. */
  refresh(refreshToken: string | undefined): Promise<string>;
  /** Told of every change, null being the end with its reason, so that a program can keep the session. */
  onChange?: ((session: SessionTokens | null, end?: SessionEnd) => void) | undefined;
}

/** A session that renews its access token, once for all who need it. */
export class SessionCredentials implements Credentials {
  readonly #ports: SessionPorts;
  #session: SessionTokens | null;
  #refreshing: Promise<string | null> | null = null;

  constructor(session: SessionTokens | null, ports: SessionPorts) {
    this.#session = session;
    this.#ports = ports;
  }

  get session(): SessionTokens | null {
    return this.#session;
  }

  set(session: SessionTokens): void {
    this.#replace(session);
    this.#ports.onChange?.(session);
  }

  end(why: SessionEnd): void {
    this.#replace(null);
    this.#ports.onChange?.(null, why);
  }

  #replace(session: SessionTokens | null): void {
    this.#session = session;
    this.#refreshing = null;
  }

  async current(): Promise<string | null> {
    if (!this.#session) return null;
    return this.#session.accessToken ?? (await this.#refreshed(this.#session));
  }

  async renewed(rejected: string | null): Promise<string | null> {
    const session = this.#session;
    if (!session) return null;
    // Somebody else has renewed it while this request was under way.
    if (session.accessToken !== undefined && session.accessToken !== rejected) return session.accessToken;
    return this.#refreshed(session);
  }

  #refreshed(session: SessionTokens): Promise<string | null> {
    if (this.#refreshing) return this.#refreshing;
    // A login or logout meanwhile has made another session; the answer then belongs to none.
    const isSame = () => this.#session === session;
    let end: SessionEnd = "refused";
    const refreshing: Promise<string | null> = this.#ports
      .refresh(session.refreshToken)
      .then((accessToken) => {
        if (isSame()) {
          // The browser's cookie may be of a later login by somebody else. Nothing of this session may be done in their name.
          if (isOfAnother(session.accessToken, accessToken)) {
            end = "of_another";
            throw new Unauthenticated("Somebody else has signed in.", { operation: "refreshAccessToken" });
          }
          this.set({ ...session, accessToken });
        }
        return this.#session?.accessToken ?? null;
      })
      .catch((error: unknown) => {
        if (!isSame()) return this.#session?.accessToken ?? null;
        // Only the server ends a session: one that could not be asked may go on later.
        if (error instanceof Unauthenticated) this.end(end);
        throw error;
      })
      .finally(() => {
        if (this.#refreshing === refreshing) this.#refreshing = null;
      });
    this.#refreshing = refreshing;
    return refreshing;
  }
}

/** Whether two access tokens are of different users. A token that does not name its user is of no other. */
export function isOfAnother(before: string | undefined, after: string): boolean {
  const [one, other] = [userOf(before ?? ""), userOf(after)];
  return one !== null && other !== null && one !== other;
}

function userOf(token: string): string | null {
  try {
    const payload: unknown = JSON.parse(atob((token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/")));
    const { sub } = (payload ?? {}) as { sub?: unknown };
    return typeof sub === "string" ? sub : null;
  } catch {
    return null;
  }
}

/** The refresh token out of the answer to a login. Browsers do not show it, and do not need to. */
export function refreshTokenOf(headers: Headers): string | undefined {
  for (const cookie of headers.getSetCookie?.() ?? []) {
    const match = /^refresh_token=([^;]+)/.exec(cookie);
    if (match?.[1]) return match[1];
  }
  return undefined;
}
