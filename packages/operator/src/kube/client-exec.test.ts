import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createKubeClient } from "./client.adapter.ts";
import type { KubeAccess } from "./kube-access.ts";

const SIZE = { cols: 80, rows: 24 };
const SUCCESS = '\u0003{"status":"Success"}';

interface Options {
  /** The status with which a request is refused; null accepts it. */
  readonly refuse?: (request: IncomingMessage) => number | null;
  readonly protocol?: string;
  readonly access?: Partial<KubeAccess>;
  readonly tty?: boolean;
}

/** An API server with one container, and a command in it. */
async function setUp({ refuse = () => null, protocol = "v5.channel.k8s.io", access = {}, tty = true }: Options = {}) {
  const server = createServer().listen(0, "127.0.0.1");
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => offered.has(protocol) && protocol,
  });
  const asked: IncomingMessage[] = [];
  const heard: string[] = [];
  const peer = Promise.withResolvers<WebSocket>();
  server.on("upgrade", (request, socket, head) => {
    asked.push(request);
    const status = refuse(request);
    if (status !== null) socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    else {
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on("message", (data: Buffer) => heard.push(data.toString()));
        peer.resolve(opened);
      });
    }
  });
  await once(server, "listening");
  const client = createKubeClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`,
    ca: null,
    isInsecure: false,
    serverName: null,
    namespace: null,
    identity: async ({ isRefused = false } = {}) => ({
      token: isRefused ? "new" : "old",
      certificate: null,
      key: null,
    }),
    ...access,
  });
  const output: string[] = [];
  const ended = vi.fn();
  const command = { container: "web", command: ["sh", "-c", "a b"], tty, size: SIZE };
  const process = client.exec("shop", "web-0", command, {
    output: (channel, data) => output.push(`${channel} ${data.toString()}`),
    ended,
  });
  onTestFinished(async () => {
    process.cancel();
    await client.close();
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const end = () =>
    vi.waitFor(() => expect(ended).toHaveBeenCalledTimes(1), 5_000).then(() => ended.mock.lastCall?.[0]);
  return { process, peer: peer.promise, asked, heard, output, end, ended };
}

test("[EX16] an exec request goes to the pod's path with the token, and its frames are carried both ways", async () => {
  const { process, peer, asked, heard, output, end } = await setUp();
  const taken = vi.fn();
  process.write(Buffer.from("early"), taken);
  const api = await peer;
  await vi.waitFor(() => expect(heard).toEqual(['\u0004{"Width":80,"Height":24}', "\u0000early"]));
  expect(taken).toHaveBeenCalledTimes(1);
  process.resize({ cols: 100, rows: 30 });
  process.endInput();
  await vi.waitFor(() => expect(heard.slice(2)).toEqual(['\u0004{"Width":100,"Height":30}', "\ufffd\u0000"]));
  api.send("\u0001hello");
  api.send(SUCCESS);
  expect(await end()).toEqual({ exitCode: 0 });
  expect(output).toEqual(["stdout hello"]);
  expect(asked[0]?.headers.authorization).toBe("Bearer old");
  expect(asked[0]?.url).toMatch(
    /^\/prefix\/api\/v1\/namespaces\/shop\/pods\/web-0\/exec\?.*command=sh&command=-c&command=a\+b$/,
  );
});

test("[EX16] an exec request refused with 401 is repeated once with the token read again", async () => {
  const once401 = await setUp({ refuse: ({ headers }) => (headers.authorization === "Bearer new" ? null : 401) });
  (await once401.peer).send(SUCCESS);
  expect(await once401.end()).toEqual({ exitCode: 0 });
  const always = await setUp({ refuse: () => 401 });
  expect(await always.end()).toEqual({ error: "The cluster's API server has refused the command with status 401." });
  expect(always.asked).toHaveLength(2);
});

test.each([
  [403, /no right to run commands in pods/],
  [404, /^The pod is gone/],
  [500, /status 500/],
])("[EX16] an exec request refused with %d ends with a message in words", async (status, words) => {
  const { end } = await setUp({ refuse: () => status });
  expect(await end()).toEqual({ error: expect.stringMatching(words) });
});

test("[EX16] an API server too old to end the input is reported where a command would wait for the end", async () => {
  const piped = await setUp({ protocol: "v4.channel.k8s.io", tty: false });
  await piped.peer;
  piped.process.endInput();
  expect(await piped.end()).toEqual({ error: expect.stringContaining("too old to end the input") });
  const shell = await setUp({ protocol: "v4.channel.k8s.io" });
  const api = await shell.peer;
  shell.process.endInput();
  api.send(SUCCESS);
  expect(await shell.end()).toEqual({ exitCode: 0 });
});

test("[EX16] a lost connection ends the command with an error, and a cancelled one ends it without", async () => {
  const lost = await setUp();
  (await lost.peer).terminate();
  expect(await lost.end()).toEqual({ error: "The connection to the container was lost." });
  const left = await setUp();
  const api = await left.peer;
  left.process.cancel();
  await once(api, "close");
  expect(left.ended).not.toHaveBeenCalled();
});

test("[EX16] an exec request in a cluster that is not reached by a network is refused", async () => {
  const { end } = await setUp({ access: { connection: { request: () => Promise.reject(new Error("unused")) } } });
  expect(await end()).toEqual({ error: expect.stringContaining("not reached by a network") });
});
