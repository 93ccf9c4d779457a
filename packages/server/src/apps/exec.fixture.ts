import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { EXEC_CHANNELS, EXEC_SUBPROTOCOL } from "@binnacle/contract";
import { vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { SOON } from "../jobs/jobs.fixture.ts";

interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly detail: unknown };
}

/** A client of one command in a container. */
export class ExecClient {
  readonly socket: WebSocket;
  stdout = "";
  stderr = "";
  outputBytes = 0;
  exit: unknown = null;
  closed: { readonly code: number; readonly reason: string } | null = null;
  refusal: Refusal | null = null;

  constructor(url: string, options: ClientOptions = {}, protocols: string | string[] = EXEC_SUBPROTOCOL) {
    this.socket = new WebSocket(url.replace(/^http/, "ws"), protocols, { perMessageDeflate: false, ...options });
    this.socket.on("message", (data: Buffer) => this.#receive(data));
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on("error", () => undefined);
    this.socket.on("unexpected-response", (_request, response) => void this.#refused(response));
  }

  #receive(data: Buffer): void {
    const content = data.subarray(1);
    this.outputBytes += content.length;
    if (data[0] === EXEC_CHANNELS.stdout) this.stdout += content.toString();
    else if (data[0] === EXEC_CHANNELS.stderr) this.stderr += content.toString();
    else this.exit = JSON.parse(content.toString());
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    this.refusal = { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  async opened(): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, "open");
    return this;
  }

  refused(): Promise<Refusal> {
    return vi.waitUntil(() => this.refusal, SOON);
  }

  frame(channel: number, content: string | Buffer = ""): void {
    this.socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(content)]));
  }

  type(text: string | Buffer): void {
    this.frame(EXEC_CHANNELS.stdin, text);
  }

  resize(cols: number, rows: number): void {
    this.frame(EXEC_CHANNELS.resize, JSON.stringify({ cols, rows }));
  }

  seen(text: string): Promise<boolean> {
    return vi.waitUntil(() => this.stdout.includes(text), SOON);
  }

  ended(): Promise<{ readonly code: number; readonly reason: string }> {
    return vi.waitUntil(() => this.closed, SOON);
  }

  leave(): void {
    this.socket.terminate();
  }
}
