import { CLOSE, type HubFrames } from "@binnacle/contract";
import type { Clock } from "../kube/work-queue.ts";
import { beginSession, type LinkSession, type SessionHost, type SessionPorts } from "./link-session.ts";
import type { StoredState } from "./outgoing.ts";
import type { Disconnect } from "./reconnect.ts";
import { openSocket } from "./socket.adapter.ts";

export interface LinkTimes {
  /** From the first try to the welcome. */
  readonly welcomeWithinMs: number;
  /** The hub is asked for a sign of life after a silence of this long. */
  readonly pingAfterMs: number;
  readonly deadAfterMs: number;
  /** How long a hub may take to agree that the connection ends. */
  readonly closeWithinMs: number;
}

export const LINK_TIMES: LinkTimes = {
  welcomeWithinMs: 30_000,
  pingAfterMs: 10_000,
  // A connection of which the other end is gone is noticed by this alone, and until then the cluster gets no changes.
  deadAfterMs: 25_000,
  closeWithinMs: 2_000,
};

const NORMAL_CLOSURE = 1000;

export interface ConnectionOptions {
  readonly url: string;
  readonly proxy: string | null;
  readonly token: string;
  readonly times: LinkTimes;
  /** `leave` ends the session, for another to be begun at once. */
  readonly onWelcome: (welcome: HubFrames["welcome"], reconnect: () => void) => void;
  readonly signal: AbortSignal;
}

/** Connects, speaks with the hub for as long as it goes, and tells how it has ended. */
export function connect(stored: StoredState, options: ConnectionOptions, ports: SessionPorts): Promise<Disconnect> {
  const { url, proxy, token, times, signal } = options;
  const { clock, log } = ports;
  const { promise, resolve } = Promise.withResolvers<Disconnect>();
  let session: LinkSession | null = null;
  let liveSinceMs: number | null = null;
  let hasMoved = false;
  let hasClosed = false;
  let stopDrain = () => {};
  let stopClosing = () => {};
  const dead = () => socket.terminate();
  let watchdog = startWatchdog(clock, [[times.welcomeWithinMs, dead]]);

  const socket = openSocket(
    { url, proxy, token, handshakeMs: times.welcomeWithinMs },
    {
      onOpen() {
        session = beginSession(host, stored, ports);
      },
      onText: (text) => session?.receive(text),
      onHeard() {
        if (liveSinceMs !== null) watchdog.received();
      },
      onEnd(code, reason) {
        watchdog.stop();
        stopDrain();
        stopClosing();
        session?.end();
        signal.removeEventListener("abort", stop);
        // The peer echoes the code of our own close frame.
        resolve({
          code: hasClosed ? null : code,
          reason,
          hasMoved,
          livedMs: liveSinceMs === null ? null : clock.now() - liveSinceMs,
        });
      },
    },
  );

  function close(code: number, reason: string): void {
    // Frames that are still in flight no longer belong to the session.
    session?.end();
    hasClosed = true;
    socket.close(code, reason);
    stopClosing = clock.after(times.closeWithinMs, () => socket.terminate());
  }

  function reconnect(): void {
    hasMoved = true;
    close(NORMAL_CLOSURE, "the operator reconnects");
  }

  const stop = () => close(NORMAL_CLOSURE, "the operator stops");

  const host: SessionHost = {
    get bufferedBytes() {
      return socket.bufferedBytes;
    },
    write: socket.write,
    ping: socket.ping,
    onWelcome(welcome) {
      liveSinceMs = clock.now();
      watchdog.stop();
      watchdog = startWatchdog(clock, [
        [times.pingAfterMs, () => socket.ping()],
        [times.deadAfterMs, dead],
      ]);
      options.onWelcome(welcome, reconnect);
    },
    onProblem(problem) {
      log.error({ problem }, "the hub has broken the protocol; the session ends");
      close(CLOSE.protocolError, problem);
    },
    onDrain(withinMs) {
      log.info({ withinMs }, "the hub drains; the operator will reconnect");
      stopDrain();
      stopDrain = clock.after(withinMs * ports.random(), reconnect);
    },
  };

  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return promise;
}

export interface Watchdog {
  /** Something came from the other side. */
  received(): void;
  stop(): void;
}

/**
 * Calls each back when nothing was received for so long. Each has one timer, because a timer for each message would cost more.
 */
function startWatchdog(
  clock: Clock,
  silences: readonly (readonly [silentMs: number, onSilence: () => void])[],
): Watchdog {
  let heardAtMs = clock.now();
  const cancels = new Map<number, () => void>();

  function watch(silentMs: number, onSilence: () => void, afterMs: number): void {
    const check = () => {
      const leftMs = heardAtMs + silentMs - clock.now();
      watch(silentMs, onSilence, leftMs <= 0 ? silentMs : leftMs);
      if (leftMs <= 0) onSilence();
    };
    cancels.set(silentMs, clock.after(afterMs, check));
  }

  for (const [silentMs, onSilence] of silences) watch(silentMs, onSilence, silentMs);
  return {
    received() {
      heardAtMs = clock.now();
    },
    stop() {
      for (const cancel of cancels.values()) cancel();
    },
  };
}
