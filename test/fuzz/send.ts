import { Agent, type IncomingMessage, request as open } from "node:http";
import type { Answer } from "./judge.ts";
import type { Request } from "./requests.ts";

const LONGEST_WAIT_MS = 30_000;

export interface Sender {
  send(request: Request): Promise<Answer | Error>;
  close(): void;
}

/** Speaks plain HTTP, so that it sends what `fetch` refuses: a GET with a body, odd headers, half an encoding. */
export function senderTo(url: string, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);

  const send = ({ operation, target, headers, body }: Request) =>
    new Promise<Answer | Error>((resolve) => {
      const startedAt = performance.now();
      const lengths = body ? { "content-length": String(body.length) } : {};
      const outgoing = open({
        agent,
        hostname,
        port,
        method: operation.method,
        path: target,
        headers: { ...headers, ...lengths },
        signal: AbortSignal.timeout(LONGEST_WAIT_MS),
      });
      outgoing.on("error", resolve);
      outgoing.on("response", (incoming) => {
        const answered = (text: string) =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            elapsedMs: performance.now() - startedAt,
          });
        incoming.on("error", resolve);
        if (incoming.headers["content-type"]?.startsWith("text/event-stream")) {
          answered("");
          // Both ends are free again at once; nobody waits for the next event.
          return void outgoing.destroy();
        }
        read(incoming).then(answered, resolve);
      });
      outgoing.end(body ?? undefined);
    });

  return { send, close: () => agent.destroy() };
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
