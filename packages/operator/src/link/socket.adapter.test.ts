import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect as connectTo, createServer } from "node:net";
import { CLOSE, LINK_SUBPROTOCOL } from "@binnacle/contract";
import { expect, onTestFinished, test } from "vitest";
import { openSocket } from "./socket.adapter.ts";

/** What RFC 6455 adds to the key of the request. */
const ACCEPTED = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** A server that sends the answer to the upgrade and the frames in one packet, as TCP may do with those of any server. */
async function upgradesTogetherWith(frames: Buffer): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (request) => {
      const key = /sec-websocket-key: (\S+)/i.exec(request.toString())?.[1] ?? "";
      const accept = createHash("sha1").update(`${key}${ACCEPTED}`).digest("base64");
      const answer = [
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Accept: ${accept}`,
        `Sec-WebSocket-Protocol: ${LINK_SUBPROTOCOL}`,
      ];
      socket.write(Buffer.concat([Buffer.from(`${answer.join("\r\n")}\r\n\r\n`), frames]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function frame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
}

test("[OL12] a hub that closes in the packet of its answer to the upgrade is heard", async () => {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(CLOSE.revoked);
  const url = await upgradesTogetherWith(Buffer.concat([frame(1, Buffer.from("{}")), frame(8, code)]));
  const texts: string[] = [];
  const ended = new Promise<number | null>((resolve) => {
    openSocket(
      { url, token: "a", handshakeMs: 5_000 },
      { onOpen() {}, onText: (text) => texts.push(text), onHeard() {}, onEnd: resolve },
    );
  });
  expect(await ended).toBe(CLOSE.revoked);
  expect(texts).toEqual(["{}"]);
});

/** A proxy that remembers where it was asked to connect, and answers with this status. */
async function proxyThat(status: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createHttpServer();
  proxy.on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    socket.on("error", () => undefined);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [host = "", port] = url.split(":");
    const onward = connectTo(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test("[OL42] with a proxy the hub is reached through it, by CONNECT", async () => {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(CLOSE.revoked);
  const url = await upgradesTogetherWith(frame(8, code));
  const proxy = await proxyThat(200);
  const ended = new Promise<number | null>((resolve) => {
    const events = { onOpen() {}, onText() {}, onHeard() {}, onEnd: resolve };
    openSocket({ url, token: "a", handshakeMs: 5_000, proxy: proxy.url }, events);
  });
  expect(await ended).toBe(CLOSE.revoked);
  expect(proxy.asked).toEqual([new URL(url).host]);
});

test.each([
  ["refuses", 407, "answered with 407"],
  ["is not there", null, "cannot be reached"],
])("[OL42] a proxy that %s is named as the reason", async (_, status, words) => {
  const proxy = status === null ? "http://127.0.0.1:1" : (await proxyThat(status)).url;
  const ended = new Promise<readonly [number | null, string]>((resolve) => {
    const events = { onOpen() {}, onText() {}, onHeard() {}, onEnd: (...end: [number | null, string]) => resolve(end) };
    openSocket({ url: "wss://hub.example.com", token: "a", handshakeMs: 5_000, proxy }, events);
  });
  expect(await ended).toEqual([null, expect.stringContaining(`the proxy ${proxy} ${words}`)]);
});
