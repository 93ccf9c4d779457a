import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface Upload {
  readonly path: string;
  readonly parts: Map<number, Buffer>;
}

/** A storage with the part of S3's API that backups use, and its rule about the size of parts. */
export interface FakeStorage {
  readonly env: Readonly<Record<string, string>>;
  /** The complete objects by `/bucket/key`, each as the parts that it was uploaded in. */
  readonly objects: ReadonlyMap<string, readonly Buffer[]>;
  /** Uploads that have begun, and that nobody has completed or aborted. Their parts cost money until somebody does. */
  readonly open: ReadonlyMap<string, unknown>;
  /** From now on these requests are answered with a status and a body. */
  refuse(method: string, status: number, body: string): void;
  stop(): Promise<void>;
}

const SMALLEST_PART = 5 * 1024 * 1024;

export async function startFakeStorage(): Promise<FakeStorage> {
  const objects = new Map<string, readonly Buffer[]>();
  const open = new Map<string, Upload>();
  const refusals = new Map<string, readonly [number, string]>();

  async function answer(asked: IncomingMessage): Promise<readonly [number, string | Buffer]> {
    const { pathname: path, searchParams: query } = new URL(asked.url ?? "", "http://storage");
    const body = await buffer(asked);
    const isBegun = !query.has("uploads");
    const refusal = isBegun && refusals.get(asked.method ?? "");
    if (refusal) return refusal;
    if (asked.method === "GET") {
      const found = objects.get(path);
      return found ? [200, Buffer.concat(found)] : [404, "<Code>NoSuchKey</Code>"];
    }
    if (!isBegun) {
      const id = `upload ${open.size + 1}`;
      open.set(id, { path, parts: new Map() });
      return [200, `<UploadId>${id}</UploadId>`];
    }
    const id = query.get("uploadId") ?? "";
    const upload = open.get(id);
    if (!upload) return [404, "<Code>NoSuchUpload</Code>"];
    if (asked.method === "PUT") upload.parts.set(Number(query.get("partNumber")), body);
    else open.delete(id);
    if (asked.method !== "POST") return [asked.method === "PUT" ? 200 : 204, ""];
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number));
    const parts = named.map((number) => upload.parts.get(number) ?? Buffer.alloc(0));
    if (parts.slice(0, -1).some(({ length }) => length < SMALLEST_PART)) return [400, "<Code>EntityTooSmall</Code>"];
    objects.set(path, parts);
    return [200, "<CompleteMultipartUploadResult/>"];
  }

  const server = createServer((asked, reply) => {
    void answer(asked).then(([status, body]) => reply.writeHead(status, { etag: '"tag"' }).end(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "the-secret-of-the-key",
    },
    objects,
    open,
    refuse: (method, status, body) => void refusals.set(method, [status, body]),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
