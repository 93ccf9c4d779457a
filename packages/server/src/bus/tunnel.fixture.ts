import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that a test can cut and mend without touching the server. */
export class Tunnel {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(this.#target);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => other.destroy());
        socket.on("close", () => this.#sockets.delete(socket) && other.destroy());
        socket.pipe(other);
      }
    });
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async cut(): Promise<void> {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server) await once(this.#server, "close");
    this.#server = null;
  }
}
