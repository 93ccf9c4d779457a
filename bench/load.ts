import { connect, type Socket } from "node:net";

export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the requests POSTs, each with a body of its own. */
  readonly body?: () => string;
}

const HOST = "127.0.0.1";

export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Keeps each connection busy with one request at a time until the time is up. Speaks raw HTTP/1.1, so that the generator
 * takes little of the cores it shares with what it measures.
 */
export async function load(
  target: Target,
  options: { connections: number; durationMs: number; pauseMs?: number },
): Promise<Measured> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + options.durationMs;
  await Promise.all(
    Array.from({ length: options.connections }, () => hammer(target, endsAt, latencies, options.pauseMs ?? 0)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

const quantile = (sorted: readonly number[], q: number) => sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;

function hammer(target: Target, endsAt: number, latencies: number[], pauseMs: number): Promise<void> {
  const nextRequest = requests(target);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(target.port, HOST);
    let sentAt = 0;
    let received = "";
    const send = () => {
      received = "";
      sentAt = performance.now();
      socket.write(nextRequest());
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      received += chunk;
      if (!isWhole(received)) return;
      const now = performance.now();
      if (!received.startsWith("HTTP/1.1 20")) return reject(new Error(`${target.path}: ${received.slice(0, 300)}`));
      latencies.push(now - sentAt);
      if (now < endsAt) return pauseMs > 0 ? void setTimeout(send, pauseMs) : send();
      socket.end();
      resolve();
    });
  });
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1];
  return length !== undefined && answer.length >= headEnd + 4 + Number(length);
}

function requests({ port, path, headers = {}, body }: Target): () => string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${path} HTTP/1.1\r\nhost: ${HOST}:${port}\r\n${lines.join("")}`;
  if (!body) return () => `GET ${head}\r\n`;
  return () => {
    const text = body();
    return `POST ${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  };
}
