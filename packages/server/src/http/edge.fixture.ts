import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Writable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { createLog } from "../log.adapter.ts";
import { createMetrics, type Metrics } from "./request-metrics.adapter.ts";
import { createHttpServer, type ServerOptions } from "./server.adapter.ts";

/** The HTTP edge on a socket of its own, with the routes that a test gives it and nothing behind them. */
export interface Edge {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly metrics: Metrics;
  /** Every line that was logged so far. */
  readonly logged: readonly LogLine[];
  /** Waits until a line with these fields has been logged. */
  line(fields: LogLine): Promise<LogLine>;
  /** The line of an answered request; an answer may arrive before its line is written. */
  lineOf(answer: Response): Promise<LogLine>;
  /** A connection that nobody interprets. */
  dial(): Socket;
  /** Sends the bytes and brings everything that comes back until the server closes the connection. */
  exchange(bytes: string | Uint8Array): Promise<string>;
}

export type LogLine = Readonly<Record<string, unknown>>;

export async function startEdge(
  routes: (app: FastifyInstance, metrics: Metrics) => void = () => undefined,
  options: Partial<ServerOptions> = {},
): Promise<Edge> {
  const logged: LogLine[] = [];
  const lines = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      this.emit("line");
      done();
    },
  });
  const metrics = createMetrics();
  const app = await createHttpServer({
    log: createLog("debug", lines),
    metrics,
    trustedProxies: [],
    corsOrigins: [],
    acceptsHost: () => true,
    bodyLimitBytes: 1024,
    requestTimeoutMs: 30_000,
    ...options,
  });
  routes(app, metrics);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  async function line(fields: LogLine): Promise<LogLine> {
    for (;;) {
      const found = logged.find((candidate) =>
        Object.entries(fields).every(([key, value]) => candidate[key] === value),
      );
      if (found) return found;
      await once(lines, "line");
    }
  }
  const dial = () => connect(port, "127.0.0.1");
  return {
    app,
    url,
    metrics,
    logged,
    line,
    lineOf: (answer) => line({ msg: "request", request_id: answer.headers.get("x-request-id") }),
    dial,
    async exchange(bytes) {
      const socket = dial();
      socket.write(bytes);
      return everything(socket);
    },
  };
}

export async function everything(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** An answer as it was on the wire. */
export function parseAnswer(raw: string): { status: number; headers: Map<string, string>; body: unknown } {
  const [head = "", body = ""] = raw.split("\r\n\r\n");
  const [statusLine = "", ...fields] = head.split("\r\n");
  const headers = fields.map((field): [string, string] => {
    const [name = "", ...value] = field.split(": ");
    return [name.toLowerCase(), value.join(": ")];
  });
  return { status: Number(statusLine.split(" ")[1]), headers: new Map(headers), body: JSON.parse(body) };
}
