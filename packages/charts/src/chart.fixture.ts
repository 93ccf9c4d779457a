import { createHash } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

const BLOCK_BYTES = 512;

/** A tar archive of the files, by path. */
export function tarOf(files: Record<string, string>): Buffer {
  const entries = Object.entries(files).flatMap(([path, text]) => {
    const content = Buffer.from(text);
    const long = Buffer.byteLength(path) > 100 ? [tarEntry("././@LongLink", Buffer.from(`${path}\0`), "L")] : [];
    return [...long, tarEntry(path.slice(0, 100), content, path.endsWith("/") ? "5" : "0")];
  });
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function tarEntry(path: string, content: Buffer, type: string): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write(type, 156);
  header.write("ustar\0" + "00", 257);
  // The checksum is taken with its own field full of spaces.
  header.write(" ".repeat(8), 148);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return Buffer.concat([header, content, padding]);
}

export interface PackedChart {
  readonly archive: Buffer;
  readonly digest: string;
}

export function packedChart(name: string, version: string, files: Record<string, string> = {}): PackedChart {
  const all = {
    "Chart.yaml": `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: "9.1"\ndescription: Serves.\n`,
    "values.yaml": "replicaCount: 2\nimage:\n  tag: stable\n  pull: true\nratio: 0.5\nlist: [a, b]\nnothing: null\n",
    "README.md": `# ${name}\n`,
    "charts/inner/values.yaml": "replicaCount: 99\n",
    ...files,
  };
  const archive = gzipSync(
    tarOf(Object.fromEntries(Object.entries(all).map(([path, text]) => [`${name}/${path}`, text]))),
  );
  return { archive, digest: createHash("sha256").update(archive).digest("hex") };
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

export const basicOf = ({ username, password }: Login): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** It does not keep the process alive. */
export interface WebServer {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** The credential of each request; empty if it had none. */
  readonly presented: string[];
  stop(): void;
}

export async function serve(answer: RequestListener): Promise<WebServer> {
  const asked: string[] = [];
  const presented: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    presented.push(request.headers.authorization ?? "");
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  server.unref();
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, asked, presented, stop };
}

/** A web folder: texts and archives by path; anything else is not there. */
export const folder =
  (files: Record<string, string | Buffer>): RequestListener =>
  (request, response) => {
    const file = files[request.url ?? ""];
    if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  };

/** The same, for those alone who present the login. */
export const lockedFolder =
  (login: Login, files: Record<string, string | Buffer>): RequestListener =>
  (request, response) => {
    if (request.headers.authorization === basicOf(login)) folder(files)(request, response);
    else response.writeHead(401, { "www-authenticate": 'Basic realm="charts"' }).end("who are you?");
  };

const CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

export interface RegistryOptions {
  /** The chart that it holds in `charts/`. */
  readonly name?: string;
  /** By tag. */
  readonly tags: Record<string, PackedChart>;
  /** The login that gets a token; without it everybody gets one. */
  readonly login?: Login;
  /** The address of the token service that it announces; by default its own `/token`. */
  readonly realm?: string;
  /** Asks for the login itself and knows no tokens. */
  readonly isBasic?: boolean;
}

/** A registry that holds one chart and wants a token of everybody, as registries do. */
export function ociRegistry({ name = "web", tags, login, realm, isBasic = false }: RegistryOptions): RequestListener {
  const repository = `/v2/charts/${name}`;
  const token = "token-of-the-registry";
  return (request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://registry");
    const json = (value: object) => response.end(JSON.stringify(value));
    const { authorization } = request.headers;
    const isLoggedIn = login === undefined || authorization === basicOf(login);
    if (pathname === "/token") {
      if (!isLoggedIn) return response.writeHead(401).end();
      return json({ token });
    }
    if (isBasic ? !isLoggedIn : authorization !== `Bearer ${token}`) {
      const own = `http://${request.headers.host}/token`;
      const challenge = isBasic
        ? 'Basic realm="registry"'
        : `Bearer realm="${realm ?? own}",service="reg",scope="repository:charts/${name}:pull"`;
      return response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    if (pathname === `${repository}/tags/list`) return json({ tags: Object.keys(tags) });
    const chart = tags[pathname.slice(`${repository}/manifests/`.length)];
    if (chart && pathname.startsWith(`${repository}/manifests/`))
      return json({ layers: [{ mediaType: CHART_LAYER, digest: `sha256:${chart.digest}` }] });
    const blob = Object.values(tags).find(({ digest }) => pathname === `${repository}/blobs/sha256:${digest}`);
    return blob ? response.end(blob.archive) : response.writeHead(404).end();
  };
}
