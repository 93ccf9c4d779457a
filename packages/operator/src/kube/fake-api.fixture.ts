import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createKubeClient } from "./client.adapter.ts";
import { gathered } from "./gathered.fixture.ts";
import type { KubeAccess } from "./kube-access.ts";
import type { KubeClient } from "./kube-client.ts";
import type { Clock } from "./work-queue.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** Answers with a status and JSON, or writes to the response itself and answers nothing. */
export type Answerer = (asked: Asked, response: ServerResponse) => readonly [status: number, body: unknown] | null;

/** A server that says what a test wants an API server to say, with a client for it. */
export async function startFakeApi(answer: Answerer, access: Partial<KubeAccess> = {}, times: { clock?: Clock } = {}) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://api");
    const text = (await gathered(request)).join("");
    const one: Asked = {
      method: request.method ?? "",
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: text === "" ? null : JSON.parse(text),
    };
    asked.push(one);
    const given = answer(one, response);
    if (given) response.writeHead(given[0], { "content-type": "application/json" }).end(JSON.stringify(given[1]));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client: KubeClient = createKubeClient(
    {
      server: url,
      ca: null,
      isInsecure: false,
      serverName: null,
      namespace: null,
      identity: async () => ({ token: "t", certificate: null, key: null }),
      ...access,
    },
    times,
  );
  return {
    url,
    asked,
    client,
    cutConnections: () => server.closeAllConnections(),
    async stop() {
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type FakeApi = Awaited<ReturnType<typeof startFakeApi>>;
