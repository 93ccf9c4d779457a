import { type Client, createClient } from "@binnacle/client";

/**
 * `starting` until the server has been asked whether the browser's cookie still holds a session. `ended` where the server has
 * ended it while somebody was at work: their page is kept until they sign in again, or somebody else wants to.
 */
export type SessionState = "starting" | "signed_in" | "ended" | "signed_out";

let state: SessionState = "starting";
const listeners = new Set<() => void>();

function setState(next: SessionState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

/** The tabs of this browser tell each other of a sign-out, after which none of them keeps its page. */
const tabs = new BroadcastChannel("binnacle-session");
const SIGNED_OUT = "signed_out";
tabs.onmessage = ({ data }) => {
  if (data === SIGNED_OUT) setState("signed_out");
};

/** The access token lives in this object and nowhere else; the refresh token is a cookie that no script can read. */
export const client: Client = createClient({
  url: location.origin,
  session: {},
  // Somebody who looks at a page would rather read that a cluster is away than wait for it.
  retry: { maxRetryAfterMs: 1_000 },
  onSession(session, end) {
    if (session) {
      // A renewal that comes late does not undo the end of what was on screen.
      if (state === "starting") setState("signed_in");
    } else setState(state === "signed_in" && end === "refused" ? "ended" : "signed_out");
  },
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
    tabs.postMessage(SIGNED_OUT);
    setState("signed_out");
  },
  /** Called when there is no session, and nothing on screen that is to be kept. */
  left: () => setState("signed_out"),
};
