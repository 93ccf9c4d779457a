import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What is wrong with a network. */
export interface Trouble {
  /** Each piece of data is this late. */
  readonly latencyMs?: number;
  /** Of all pieces of data, so many end their connection by a reset. */
  readonly resets?: number;
  /** In each direction of each connection. */
  readonly bytesPerSecond?: number;
  /** Both ends believe in their connections and hear nothing, also after the trouble. */
  readonly isHalfOpen?: boolean;
}

/**
 * What is between two parts of an installation: it passes each connection on to the next of its targets that takes it, as a load
 * balancer does, and can be given the troubles of a network.
 */
export interface Gate {
  readonly port: number;
  targets: readonly number[];
  /** Replaces the trouble of before. */
  disturb(trouble: Trouble): void;
  /** Resets every connection; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

export async function openGate(targets: readonly number[]): Promise<Gate> {
  const sockets = new Set<Socket>();
  const ways = new Set<{ isDead: boolean }>();
  let current: Trouble = {};
  let turn = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const reach = (triesLeft: number): void => {
      const far = connect({ port: gate.targets[turn++ % gate.targets.length] ?? 0, host: "127.0.0.1", noDelay: true });
      far.once("connect", () => join(near, far));
      far.once("error", () => (triesLeft > 0 && !near.destroyed ? reach(triesLeft - 1) : near.resetAndDestroy()));
    };
    near.pause();
    near.on("error", () => undefined);
    reach(gate.targets.length);
  });

  function join(near: Socket, far: Socket): void {
    far.removeAllListeners("error");
    const way = { isDead: current.isHalfOpen ?? false };
    ways.add(way);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        ways.delete(way);
        to.destroySoon();
      });
      void pass(from, to, way);
    }
    near.resume();
  }

  async function pass(from: Socket, to: Socket, way: { isDead: boolean }): Promise<void> {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>) {
        if (way.isDead) continue;
        const { latencyMs = 0, resets = 0, bytesPerSecond = 0 } = current;
        if (Math.random() < resets) {
          from.resetAndDestroy();
          to.resetAndDestroy();
          return;
        }
        const waitMs = latencyMs + (bytesPerSecond > 0 ? (bytes.length * 1_000) / bytesPerSecond : 0);
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (!to.write(bytes)) await Promise.race([once(to, "drain"), once(to, "close")]);
      }
      to.end();
    } catch {
      to.destroy();
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gate: Gate = {
    port: (server.address() as AddressInfo).port,
    targets,
    disturb(trouble) {
      current = trouble;
      if (trouble.isHalfOpen) for (const way of ways) way.isDead = true;
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      server.close();
      gate.cut();
      await once(server, "close");
    },
  };
  return gate;
}
