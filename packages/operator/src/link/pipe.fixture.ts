import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server on which a test can cut connections, or leave them open and let nothing through. */
export class Pipe {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStalled = false;

  private constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, "127.0.0.1");
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

  static async to(target: number): Promise<Pipe> {
    const pipe = new Pipe(target);
    pipe.#server.listen(0, "127.0.0.1");
    await once(pipe.#server, "listening");
    return pipe;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

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

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }
}
