import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { certificate } from "./authority.ts";

/**
 * Stands for the ingress controller of a cluster: one address, with the hub behind one path and the API behind all others. Its certificate
 * is signed by the company's own authority.
 */
export class Front {
  readonly #server: Server;
  readonly #targetOf: (path: string) => string;
  readonly #host: string;
  /** Sockets of operators, which are no longer connections of the server. */
  readonly #upgraded = new Set<Duplex>();

  private constructor(host: string, targetOf: (path: string) => string) {
    this.#host = host;
    this.#targetOf = targetOf;
    this.#server = createServer(certificate("front"), (near, answer) => {
      const far = request({ ...this.#options(near), method: near.method }, (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      });
      far.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
      answer.on("close", () => far.destroy());
      near.pipe(far);
    });
    this.#server.on("upgrade", (near, socket, head) => {
      this.#upgraded.add(socket);
      socket.on("close", () => this.#upgraded.delete(socket));
      const far = connect(80, this.#targetOf(near.url ?? "/"), () => {
        const lines = near.rawHeaders.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`));
        far.write(`${near.method} ${near.url} HTTP/1.1\r\n${lines.join("")}\r\n`);
        far.write(head);
        socket.pipe(far).pipe(socket);
      });
      for (const [one, other] of [
        [socket, far],
        [far, socket],
      ] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
  }

  static async open(host: string, targetOf: (path: string) => string): Promise<Front> {
    const front = new Front(host, targetOf);
    front.#server.listen(0, host);
    await once(front.#server, "listening");
    return front;
  }

  get url(): string {
    return `https://${this.#host}:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.#upgraded) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #options({ url = "/", headers }: IncomingMessage) {
    return { host: this.#targetOf(url), port: 80, path: url, headers };
  }
}
