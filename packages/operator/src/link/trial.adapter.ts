import { CLOSE, LINK_TRIAL_SUBPROTOCOL, LINK_VERSION } from "@binnacle/contract";
import { openSocket } from "./socket.adapter.ts";

const WITHIN_MS = 30_000;

export interface TrialOptions {
  readonly url: string;
  readonly proxy: string | null;
  readonly token: string;
  readonly operatorVersion: string;
  readonly newId: () => string;
}

/** The hub stores nothing of a trial, so there is nothing to say about the cluster. */
const NOTHING = {
  facts: { kubernetes_version: "", node_count: 0, capacity: { cpu_cores: 0, memory_bytes: 0, pods: 0 } },
  revision: null,
  digest: "0".repeat(64),
};

/** Asks the hub whether it would admit this operator, without taking the session of the one that is connected. Null where it would. */
export function tryHub({ url, proxy, token, operatorVersion, newId }: TrialOptions): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => socket.terminate(), WITHIN_MS);
  const socket = openSocket(
    { url, proxy, token, handshakeMs: WITHIN_MS, protocol: LINK_TRIAL_SUBPROTOCOL },
    {
      onOpen() {
        const said = { versions: [LINK_VERSION], operator_version: operatorVersion, ...NOTHING };
        socket.write(JSON.stringify({ type: "hello", id: newId(), ...said }));
      },
      onText: () => undefined,
      onHeard: () => undefined,
      onEnd(code, reason) {
        clearTimeout(timer);
        resolve(code === CLOSE.trialPassed ? null : `${code ?? "no connection"}: ${reason}`);
      },
    },
  );
  return promise;
}
