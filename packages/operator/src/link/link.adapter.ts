import { createHash } from "node:crypto";
import { CLOSE, canonicalJson, inventoryText, LINK_LIMITS, safeText } from "@binnacle/contract";
import type { DesiredStore, Inventory } from "../desired/desired-state.ts";
import { type ConnectionOptions, connect, LINK_TIMES, type LinkTimes } from "./connection.adapter.ts";
import { createKeyedWork } from "./keyed-work.ts";
import type { SessionPorts } from "./link-session.ts";
import type { StoredState } from "./outgoing.ts";
import type { Commands } from "./ports.ts";
import { type Disconnect, type RetryPlan, retryAfter } from "./reconnect.ts";
import { createSessionState } from "./session-state.ts";

export interface LinkPorts extends Omit<SessionPorts, "store" | "work" | "memory"> {
  readonly hubUrl: string;
  /** The HTTP proxy on the way to the hub. */
  readonly hubProxy?: string | null;
  readonly store: DesiredStore & Inventory;
  readonly times?: Partial<LinkTimes>;
}

export interface Link {
  /** Whether the hub has taken the operator in. */
  readonly isLive: boolean;
  /** Begins a new session, in which both sides compare what they hold. */
  renew(): void;
  /** Ends the session, and waits for what is being stored. */
  stop(): Promise<void>;
}

/** After these close codes the token is read again. */
const REFUSALS: ReadonlySet<number | null> = new Set([CLOSE.unauthenticated, CLOSE.revoked, CLOSE.clusterDeleted]);

/** Keeps the operator connected to the hub until it is stopped, whatever happens on the way. */
export function startLink(ports: LinkPorts): Link {
  const { hubUrl: url, hubProxy: proxy = null, store, tokens, clock, log } = ports;
  const commands = withChangedSettings(ports.commands);
  const times = { ...LINK_TIMES, ...ports.times };
  const work = createKeyedWork({ atOnce: LINK_LIMITS.inFlight, capacity: 8 * LINK_LIMITS.inFlight });
  const memory = createSessionState(store, ports);
  const stopping = new AbortController();
  const { signal } = stopping;
  let isLive = false;
  let move = () => {};
  let spreadMs = 0;
  /** The last logged reason for not being connected. Each reason is logged once. */
  let lastLogged: string | null = null;

  async function readStoredState(): Promise<StoredState> {
    // Writes of an earlier session may still be running.
    await work.idle();
    const { revision, settings } = await memory.known();
    const entries = store.inventory();
    commands.settings(settings);
    return { revision, digest: createHash("sha256").update(inventoryText(entries)).digest("hex"), entries };
  }

  async function runSession(isRefused: boolean): Promise<Disconnect> {
    try {
      const state = await readStoredState();
      const token = await tokens.current({ isRefused });
      const onWelcome: ConnectionOptions["onWelcome"] = ({ reconnect_spread_seconds, resume }, reconnect) => {
        isLive = true;
        move = reconnect;
        lastLogged = null;
        spreadMs = reconnect_spread_seconds * 1_000;
        log.info({ resume }, "connected to the hub");
      };
      return await connect(
        state,
        { url, proxy, token, times, signal, onWelcome },
        { ...ports, commands, work, memory },
      );
    } catch (err) {
      log.warn({ err }, "the stored resources could not be read");
      return { code: null, reason: "the cluster does not answer", hasMoved: false, livedMs: null };
    } finally {
      isLive = false;
      move = () => {};
    }
  }

  function logDisconnect({ code, reason }: Disconnect, { problem, delayMs }: RetryPlan): void {
    const fields = { code, reason: safeText(reason), retryMs: delayMs };
    const isRepeated = lastLogged === (problem ?? `${code}`);
    lastLogged = problem ?? `${code}`;
    if (isRepeated) log.debug(fields, "the hub is not connected");
    else if (problem) log.error(fields, problem);
    else log.warn(fields, "the hub is not connected; the operator retries");
  }

  async function keepConnected(): Promise<void> {
    let failures = 0;
    let downSinceMs = clock.now();
    let isRefused = false;
    while (!signal.aborted) {
      const disconnect = await runSession(isRefused);
      if (signal.aborted) return;
      const downMs = clock.now() - downSinceMs;
      const retry = retryAfter(disconnect, { failures, downMs, spreadMs }, ports.random());
      if (retry.failures === 0) downSinceMs = clock.now();
      if (!disconnect.hasMoved) logDisconnect(disconnect, retry);
      failures = retry.failures;
      isRefused = REFUSALS.has(disconnect.code);
      await pause(clock, retry.delayMs, signal);
    }
  }

  const running = keepConnected();
  return {
    get isLive() {
      return isLive;
    },
    renew: () => move(),
    async stop() {
      stopping.abort();
      await running;
      await work.idle();
      await memory.flush();
    },
  };
}

/** Waits, but not after the signal. */
function pause(clock: LinkPorts["clock"], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, wake);
    signal.addEventListener("abort", wake, { once: true });
    function wake(): void {
      cancel();
      signal.removeEventListener("abort", wake);
      resolve();
    }
  });
}

/** The hub sends settings with every session; they are passed on only when they have changed. */
function withChangedSettings(commands: Commands): Commands {
  let last: string | null = null;
  return {
    ...commands,
    settings(settings) {
      const text = canonicalJson(settings);
      if (text !== last) commands.settings(settings);
      last = text;
    },
  };
}
