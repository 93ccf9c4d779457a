import { type Client, createClient } from "@binnacle/client";

/** `starting` until the server has been asked whether the browser's cookie still holds a session. */
export type SessionState = "starting" | "signed_in" | "signed_out";

let state: SessionState = "starting";
const listeners = new Set<() => void>();

function setState(next: SessionState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

/** The access token lives in this object and nowhere else; the refresh token is a cookie that no script can read. */
export const client: Client = createClient({
  url: location.origin,
  session: {},
  // Somebody who looks at a page would rather read that a cluster is away than wait for it.
  retry: { maxRetryAfterMs: 1_000 },
  onSession: (session) => setState(session ? "signed_in" : "signed_out"),
});

export const session = {
  get state(): SessionState {
    return state;
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  async signIn(username: string, password: string): Promise<void> {
    await client.login({ username, password });
    setState("signed_in");
  },
  async signOut(): Promise<void> {
    await client.logout();
    setState("signed_out");
  },
  /** Called when the first request has shown that there is no session. */
  ended: () => setState("signed_out"),
};
