import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Returns the answer to give instead of the registry's own; undefined lets it answer, and "reset" ends the connection. */
type Interference = (request: {
  method: string;
  path: string;
  authorization: string | undefined;
}) =>
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: object }
  | "reset"
  | undefined;

interface Stored {
  readonly type: string;
  readonly bytes: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** A registry that takes pushes as strictly as the specification allows: nothing is stored before what it refers to. */
export async function startPushRegistry() {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, Stored>();
  const requests: string[] = [];
  let interfere: Interference = () => undefined;

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", headers } = request;
    const url = new URL(request.url ?? "", `http://127.0.0.1:${port}`);
    requests.push(`${method} ${url.pathname}`);
    const other = interfere({ method, path: url.pathname + url.search, authorization: headers.authorization });
    if (other === "reset") return void request.socket.destroy();
    if (other) {
      request.resume();
      response.writeHead(other.status, other.headers).end(JSON.stringify(other.body ?? {}));
      return;
    }
    const body = await buffer(request);
    const { status, headers: own } = handled(method, url, body, headers["content-type"] ?? "");
    response.writeHead(status, own).end();
  }

  function handled(method: string, url: URL, body: Buffer, type: string): Answer {
    const [, name = "", kind, reference = ""] = /^\/v2\/(.+)\/(blobs|manifests)\/(.*)$/.exec(url.pathname) ?? [];
    const key = `${name}@${reference}`;
    if (kind === "manifests") {
      if (method === "PUT") return storeManifest(name, reference, { type, bytes: body });
      const found = manifests.get(key);
      return found ? { status: 200, headers: { "docker-content-digest": digestOf(found.bytes) } } : { status: 404 };
    }
    if (method === "HEAD") return { status: blobs.has(key) ? 200 : 404 };
    if (method === "POST") return beginUpload(name, url.searchParams);
    const digest = url.searchParams.get("digest") ?? "";
    if (digestOf(body) !== digest || url.searchParams.get("state") !== "kept") return { status: 400 };
    blobs.set(`${name}@${digest}`, body);
    return { status: 201 };
  }

  function beginUpload(name: string, query: URLSearchParams): Answer {
    const mounted = blobs.get(`${query.get("from")}@${query.get("mount")}`);
    if (mounted) {
      blobs.set(`${name}@${query.get("mount")}`, mounted);
      return { status: 201 };
    }
    return { status: 202, headers: { location: `/v2/${name}/blobs/uploads/1?state=kept` } };
  }

  function storeManifest(name: string, reference: string, stored: Stored): Answer {
    const { config, layers = [], manifests: inner = [] } = JSON.parse(stored.bytes.toString());
    const isStored = ({ digest }: { digest: string }) => blobs.has(`${name}@${digest}`);
    const isWhole =
      [...layers, ...(config ? [config] : [])].every(isStored) &&
      inner.every(({ digest }: { digest: string }) => manifests.has(`${name}@${digest}`));
    if (!isWhole) return { status: 400 };
    const digest = digestOf(stored.bytes);
    manifests.set(`${name}@${digest}`, stored);
    manifests.set(`${name}@${reference}`, stored);
    return { status: 201, headers: { "docker-content-digest": digest } };
  }

  return {
    host: `127.0.0.1:${port}`,
    origin: `http://127.0.0.1:${port}`,
    blobs,
    manifests,
    /** As `METHOD /path`, in their order. */
    requests,
    interfere: (other: Interference) => (interfere = other),
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const digestOf = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
