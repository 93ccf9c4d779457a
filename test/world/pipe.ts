import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";

/**
 * A way to a server on which a test can cut connections, or leave them open and let nothing through, and which it can
 * close for a while, all without touching the server.
 */
export class Pipe {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  /** The address that it listens on. */
  readonly host: string;
  #isStalled = false;

  private constructor(target: NetConnectOpts, host = "127.0.0.1") {
    this.host = host;
    this.#server = createServer((near) => {
      const far = connect(target);
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
    const pipe = new Pipe({ port, host });
    await pipe.open();
    return pipe;
  }

  /** To the server of the address, which for the embedded PostgreSQL is a socket in a folder; `url` leads through the pipe. */
  static async toServer(
    address: string,
    defaultPort: number,
    host?: string,
  ): Promise<{ readonly pipe: Pipe; readonly url: string }> {
    const { protocol, hostname, port: given, username, password, pathname, searchParams } = new URL(address);
    const folder = searchParams.get("host");
    const port = Number(searchParams.get("port") || given || defaultPort);
    const pipe = new Pipe(folder ? { path: `${folder}/.s.PGSQL.${port}` } : { port, host: hostname }, host);
    await pipe.open();
    const user = folder ? `${searchParams.get("user")}@` : username ? `${username}:${password}@` : "";
    return { pipe, url: `${protocol}//${user}${pipe.host}:${pipe.port}${pathname}` };
  }

  /** The same after it was closed and opened again. */
  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, this.host);
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

  /** Connections hear nothing any more, as where a firewall has forgotten them; new ones work. */
  forget(): void {
    for (const socket of this.#sockets) socket.removeAllListeners("data");
  }

  /** Connections end, and new ones are refused. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }
}
