import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import type { ServerProcess } from "./server-process.ts";

/** Passes each connection on to the next of the servers that takes it, as a load balancer does. */
export async function balance(targets: readonly number[]): Promise<Server> {
  let turn = 0;
  const server = createServer((near) => {
    const pass = (triesLeft: number): void => {
      const far = connect(targets[turn++ % targets.length] ?? 0, "127.0.0.1");
      far.once("connect", () => near.pipe(far).pipe(near));
      far.once("error", () => (triesLeft > 0 && far.connecting ? pass(triesLeft - 1) : near.destroy()));
      far.once("close", () => far.connecting || near.destroy());
      near.once("close", () => far.destroy());
      near.on("error", () => far.destroy());
    };
    pass(targets.length);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export const portOf = ({ url }: ServerProcess) => Number(new URL(url).port);
