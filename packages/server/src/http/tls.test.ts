import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import { ConfigProblems } from "@binnacle/process";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeCertificate, type TestCertificate } from "./certificate.fixture.ts";
import { type Edge, startEdge } from "./edge.fixture.ts";
import { openStream } from "./sse.adapter.ts";
import { openCertificate, readCertificate } from "./tls.adapter.ts";

const SOON = { timeout: 10_000, interval: 5 };
const NAMES = ["binnacle.example.com", "127.0.0.1"];

let folder: string;
let files: { certFile: string; keyFile: string };
let edge: Edge | null;
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-tls-"));
  files = { certFile: join(folder, "current", "tls.crt"), keyFile: join(folder, "current", "tls.key") };
  edge = null;
  vi.clearAllMocks();
});
afterEach(async () => {
  await edge?.app.close();
  await rm(folder, { recursive: true });
});

/** Puts files into a folder of their own and swaps the link to it, as Kubernetes does with the files of a Secret. */
async function put(cert: string, key: string): Promise<void> {
  const own = await mkdtemp(join(folder, "of-"));
  await writeFile(join(own, "tls.crt"), cert);
  await writeFile(join(own, "tls.key"), key);
  await symlink(own, `${own}.link`);
  await rename(`${own}.link`, join(folder, "current"));
}

async function serve(first: TestCertificate, requestTimeoutMs = 30_000): Promise<Edge> {
  await put(first.cert, first.key);
  const certificate = await openCertificate(files, log, 10);
  edge = await startEdge(
    (app) => {
      app.get("/thing", async () => ({ is: "there" }));
      app.get("/stream", async (_request, reply) => openStream(reply).write("data: first\n\n"));
    },
    { certificate, requestTimeoutMs },
  );
  return edge;
}

const portOf = ({ app }: Edge) => (app.server.address() as AddressInfo).port;

/** The answer, and the serial number of the certificate with which it came. */
async function ask(from: Edge, ca: string, agent = new Agent({ ca })) {
  const request = get(`https://127.0.0.1:${portOf(from)}/thing`, { ca, agent });
  const [response] = await once(request, "response");
  const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
  return { status: response.statusCode, headers: response.headers, body: await text(response), serialNumber };
}

async function shownAt(from: Edge): Promise<string> {
  const socket = connect({ port: portOf(from), host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString("base64");
}
const bodyOf = ({ cert }: TestCertificate) => cert.replace(/-----.*?-----|\n/g, "");

describe("a server with a certificate", () => {
  test("[CF4102] a server with a certificate answers over TLS under a name of it, and tells browsers to stay with it", async () => {
    const first = makeCertificate({ names: NAMES });
    const served = await serve(first);
    expect(served.url).toMatch(/^https:/);
    const answer = await ask(served, first.cert);
    expect([answer.status, answer.body]).toEqual([200, '{"is":"there"}']);
    expect(answer.headers["strict-transport-security"]).toMatch(/^max-age=\d+/);
  });

  test("[CF4102] a server sends the issuers that are in the file of its certificate, so that clients need the root alone", async () => {
    const root = makeCertificate({ names: ["root"], isAuthority: true });
    const between = makeCertificate({ names: ["between"], isAuthority: true, issuer: { ...root, name: "root" } });
    const leaf = makeCertificate({ names: NAMES, issuer: { ...between, name: "between" } });
    const served = await serve({ cert: leaf.cert + between.cert, key: leaf.key });
    expect((await ask(served, root.cert)).status).toBe(200);
  });

  test.each([
    ["TLSv1.3", "TLSv1.3"],
    ["TLSv1.2", "TLSv1.2"],
    ["TLSv1.1", null],
  ] as const)("[CF4102] a server speaks with a client that knows at most %s: %s", async (maxVersion, spoken) => {
    const served = await serve(makeCertificate({ names: NAMES }));
    const socket = connect({
      port: portOf(served),
      host: "127.0.0.1",
      rejectUnauthorized: false,
      minVersion: "TLSv1",
      maxVersion,
      // OpenSSL would not offer old versions otherwise.
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    const failure = await once(socket, "secureConnect").catch((error: NodeJS.ErrnoException) => error);
    if (spoken) expect(socket.getProtocol()).toBe(spoken);
    else expect(failure).toMatchObject({ code: expect.stringMatching(/PROTOCOL_VERSION/) });
    socket.destroy();
  });

  test("[CF4104] a server gives new connections the certificate of the files that were swapped in, and keeps the open ones", async () => {
    const [first, second] = [makeCertificate({ names: NAMES }), makeCertificate({ names: NAMES })];
    const served = await serve(first);
    const agent = new Agent({ ca: first.cert, keepAlive: true, maxSockets: 1 });
    const before = await ask(served, first.cert, agent);
    const stream = connect({ port: portOf(served), host: "127.0.0.1", ca: first.cert });
    stream.write("GET /stream HTTP/1.1\r\nhost: x\r\n\r\n");
    await once(stream, "data");

    await put(second.cert, second.key);
    await vi.waitFor(async () => expect(await shownAt(served)).toBe(bodyOf(second)), SOON);
    expect((await ask(served, second.cert)).status).toBe(200);
    await expect(ask(served, first.cert)).rejects.toThrow(/self-signed/);
    // A session of before must not bring the old certificate back.
    expect(await ask(served, first.cert, agent)).toMatchObject({ status: 200, serialNumber: before.serialNumber });
    expect(stream.destroyed).toBe(false);
    expect(log.info.mock.lastCall?.[1]).toMatch(/certificate has changed/);
    agent.destroy();
    stream.destroy();
  });

  test("[CF4105] the former certificate is kept while the files are not usable, the log says why once, and what comes then is taken", async () => {
    const [first, second] = [makeCertificate({ names: NAMES }), makeCertificate({ names: NAMES })];
    const served = await serve(first);
    await put(second.cert, first.key);
    await vi.waitFor(() => expect(log.error).toHaveBeenCalledOnce(), SOON);
    expect(log.error.mock.lastCall?.[0].problem).toMatch(/^BINNACLE_TLS_KEY_FILE: the file has another key/);
    expect(await shownAt(served)).toBe(bodyOf(first));

    await rm(join(folder, "current"));
    await vi.waitFor(() => expect(log.error).toHaveBeenCalledTimes(2), SOON);
    expect(log.error.mock.lastCall?.[0].problem).toMatch(/cannot be read \(ENOENT\)/);
    expect(await shownAt(served)).toBe(bodyOf(first));

    await put(second.cert, second.key);
    await vi.waitFor(async () => expect(await shownAt(served)).toBe(bodyOf(second)), SOON);
    expect(log.error).toHaveBeenCalledTimes(2);
    expect(JSON.stringify([log.info.mock.calls, log.error.mock.calls])).not.toMatch(/PRIVATE KEY|BEGIN/);
  });

  test("[CF4106] the connection of a client that speaks plain HTTP is closed", async () => {
    const served = await serve(makeCertificate({ names: NAMES }));
    const answer = await served.exchange("GET /thing HTTP/1.1\r\nhost: x\r\n\r\n").catch(() => "");
    expect(answer).not.toContain("HTTP/1.1");
    expect((await ask(served, (await readCertificate(files)).cert.toString())).status).toBe(200);
  });

  test("[CF4106] the connection of a client that does not finish its handshake in the time of a request is closed", async () => {
    const served = await serve(makeCertificate({ names: NAMES }), 100);
    const socket = served.dial();
    await once(socket, "close");
  });

  test("[CF4106] a stop does not wait for a client that has not finished its handshake", async () => {
    const first = makeCertificate({ names: NAMES });
    const served = await serve(first);
    const socket = served.dial();
    const closed = once(socket, "close");
    await once(socket, "connect");
    // An answer proves that the server has taken the earlier connection too.
    await ask(served, first.cert);
    await served.app.close();
    await closed;
    edge = null;
  });
});

const locked = (key: string) =>
  createPrivateKey(key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }).toString();

describe("files that are not usable", () => {
  const own = makeCertificate({ names: NAMES });
  const other = makeCertificate({ names: NAMES });

  test.each([
    ["another key", own.cert, other.key, /^BINNACLE_TLS_KEY_FILE: the file has another key/],
    ["an issuer in front", other.cert + own.cert, own.key, /the certificate of the server comes first/],
    ["no certificate", "hello", own.key, /^BINNACLE_TLS_CERT_FILE: the file has no certificate/],
    ["the key instead of the certificate", own.key, own.key, /^BINNACLE_TLS_CERT_FILE: the file has no certificate/],
    ["no key", own.cert, "hello", /^BINNACLE_TLS_KEY_FILE: the file has no private key/],
    ["half a key", own.cert, own.key.slice(0, 120), /^BINNACLE_TLS_KEY_FILE: the file has no private key/],
    ["a key that has a password", own.cert, locked(own.key), /that can be read without a password$/],
    ["an issuer that is cut off", `${own.cert}${other.cert.slice(0, 200)}`, own.key, /^BINNACLE_TLS_CERT_FILE: /],
  ])(
    "[CF4103] with %s they are refused by the name of the variable, without what is in them",
    async (_, cert, key, problem) => {
      await put(cert, key);
      const failure = await openCertificate(files, log).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConfigProblems);
      expect((failure as ConfigProblems).problems).toEqual([expect.stringMatching(problem)]);
      for (const line of key.split("\n").filter(Boolean)) expect(String(failure)).not.toContain(line);
    },
  );

  test("[CF4103] both files that cannot be read are named, with the reason", async () => {
    const failure = (await openCertificate(files, log).catch((error: unknown) => error)) as ConfigProblems;
    expect(failure.problems).toEqual([
      `BINNACLE_TLS_CERT_FILE: the file ${files.certFile} cannot be read (ENOENT)`,
      `BINNACLE_TLS_KEY_FILE: the file ${files.keyFile} cannot be read (ENOENT)`,
    ]);
  });
});
