import type { SessionTokens } from "@binnacle/client";
import { CliError, EXIT, type Host } from "./host.ts";

/** A control plane and who one is there. */
export interface Context {
  readonly url: string;
  readonly username?: string;
  readonly token?: string;
  readonly session?: SessionTokens;
  readonly org?: string;
  readonly project?: string;
  readonly contract?: ContractCheck;
}

/** When the contract of the control plane was last asked for, and what it was; null where it is unknown. */
export interface ContractCheck {
  readonly checked_at: string;
  readonly contract: number | null;
}

export interface State {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
  /** A person's own names for beginnings of command lines. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** The variables that `binnacle` reads. */
export const CLI_VARIABLES = ["BINNACLE_URL", "BINNACLE_TOKEN", "BINNACLE_ORG", "BINNACLE_PROJECT"] as const;

export const NO_STATE: State = { current: null, contexts: {} };

export function parseState(text: string | null): State {
  if (text === null) return NO_STATE;
  try {
    const { current, contexts, aliases } = JSON.parse(text) as Partial<State>;
    if (typeof contexts === "object" && contexts !== null)
      return { current: current ?? null, contexts, ...(aliases ? { aliases } : {}) };
  } catch {
    // Falls through to the message, which does not show the text: it holds tokens.
  }
  throw new CliError("The file with the contexts is damaged.", EXIT.failed, "binnacle login <url>");
}

/** The changes of one process wait for each other. */
const turns = new WeakMap<Host, Promise<void>>();

/** Reads anew before it writes, so that another run's change is not lost. */
export function changeState(host: Host, change: (state: State) => State): Promise<void> {
  const turn = (turns.get(host) ?? Promise.resolve()).then(async () => {
    const state = change(parseState(await host.readState()));
    await host.writeState(`${JSON.stringify(state, null, 2)}\n`);
  });
  turns.set(
    host,
    turn.catch(() => undefined),
  );
  return turn;
}

export const withContext = (state: State, name: string, context: Context): State => ({
  ...state,
  current: name,
  contexts: { ...state.contexts, [name]: context },
});

/** The same context with another session. One that was removed meanwhile stays removed. */
export function withSession(state: State, name: string, session: SessionTokens | null): State {
  const context = state.contexts[name];
  if (!context) return state;
  const { session: _session, ...rest } = context;
  return { ...state, contexts: { ...state.contexts, [name]: session ? { ...rest, session } : rest } };
}

/** One that was removed meanwhile stays removed. */
export function withContract(state: State, name: string, contract: ContractCheck): State {
  const context = state.contexts[name];
  return context ? { ...state, contexts: { ...state.contexts, [name]: { ...context, contract } } } : state;
}

export function withoutContext(state: State, name: string): State {
  const { [name]: _removed, ...contexts } = state.contexts;
  return { ...state, current: state.current === name ? null : state.current, contexts };
}

export function renamed(state: State, from: string, to: string): State {
  const context = existing(state, from);
  if (to !== from && Object.hasOwn(state.contexts, to)) {
    throw new CliError(`There is a context "${to}" already.`, EXIT.conflict, `binnacle context delete ${to}`);
  }
  const { [from]: _moved, ...contexts } = state.contexts;
  return { ...state, current: state.current === from ? to : state.current, contexts: { ...contexts, [to]: context } };
}

export function existing(state: State, name: string): Context {
  const context = Object.hasOwn(state.contexts, name) ? state.contexts[name] : undefined;
  if (context) return context;
  const names = Object.keys(state.contexts);
  const known = names.length > 0 ? ` There are: ${names.join(", ")}.` : "";
  throw new CliError(`There is no context "${name}".${known}`, EXIT.notFound, "binnacle context list");
}

/** The host makes a good name, since one control plane has one. */
export function contextNameFor(url: string, state: State): string {
  const known = Object.entries(state.contexts).find(([, context]) => context.url === url);
  return known?.[0] ?? new URL(url).host;
}

/** The address without what does not belong to it. */
export function cleanUrl(text: string): string {
  // `127.0.0.1:8080` is a host and a port; nobody encrypts what does not leave the machine. A name that only begins so is anybody's.
  const scheme = /^(localhost|127(\.\d{1,3}){3}|\[::1\])([:/]|$)/.test(text) ? "http" : "https";
  const whole = text.includes("://") ? text : `${scheme}://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new CliError(
      "The address must look like https://binnacle.example.com, without a user, a query or a fragment.",
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}

/** The connection that a command uses. */
export interface Target {
  readonly url: string;
  /** The context that it is of; null where the environment says it all. */
  readonly name: string | null;
  readonly credential: { readonly token: string } | { readonly session: SessionTokens } | null;
  readonly org: string | null;
  readonly project: string | null;
}

export interface Asked {
  readonly context?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * The environment goes before the context. The credential of a context is sent to its own address only: another address
 * may be anybody's.
 */
export function targetOf(state: State, asked: Asked, env: Host["env"]): Target {
  const name = asked.context ?? state.current;
  const context = name === null ? null : existing(state, name);
  const given = asked.url ?? env["BINNACLE_URL"];
  const url = given ? cleanUrl(given) : context?.url;
  if (!url) throw new CliError("You are not signed in to a control plane.", EXIT.refused, "binnacle login <url>");
  const own = context && context.url === url ? context : null;
  const token = env["BINNACLE_TOKEN"] || own?.token;
  return {
    url,
    name: own && !env["BINNACLE_TOKEN"] ? name : null,
    credential: token ? { token } : own?.session ? { session: own.session } : null,
    org: env["BINNACLE_ORG"] || own?.org || null,
    project: env["BINNACLE_PROJECT"] || own?.project || null,
  };
}
