import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * A way to a server on which a test can cut connections, or leave them open and let nothing through, and which it can
 * close for a while, all without touching the server.
 */
export class Pipe {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #isStalled = false;

  private constructor(port: number, host: string) {
    this.#server = createServer((near) => {
      const far = connect(port, host);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => other.destroy());
        socket.on("close", () => this.#sockets.delete(socket) && other.destroy());
        socket.on("data", (bytes) => this.#isStalled || other.write(bytes));
      }
    });
  }

  static async to(port: number, host = "127.0.0.1"): Promise<Pipe> {
    const pipe = new Pipe(port, host);
    await pipe.open();
    return pipe;
  }

  /** The same after it was closed and opened again. */
  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Connections end; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Half-open: both ends believe in the connection, and hear nothing. */
  stall(): void {
    this.#isStalled = true;
  }

  flow(): void {
    this.#isStalled = false;
  }

  /** Connections end, and new ones are refused. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }
}
