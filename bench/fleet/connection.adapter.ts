import type { KubeAnswer, KubeConnection, SentRequest } from "../../packages/operator/src/kube/kube-access.ts";
import type { Handler } from "../../packages/sandbox/src/api/http/handler.adapter.ts";
import type { ApiResponse } from "../../packages/sandbox/src/api/http/message.ts";
import { TextStream } from "./messages.ts";

/** The way from an operator to a sandbox in the same process: no sockets, no buffers of theirs. */
export function connectionTo(handle: Handler): KubeConnection {
  return {
    async request(request) {
      request.signal?.throwIfAborted();
      // As over a socket, the answer never comes from within the question.
      await new Promise((resolve) => setImmediate(resolve));
      request.signal?.throwIfAborted();
      return answerOf(handle(asked(request)), request.signal);
    },
  };
}

function asked({ method, path: target, headers, body }: SentRequest) {
  const at = target.indexOf("?");
  const [path, query] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
  return { method, path, query: new URLSearchParams(query), headers, body: body ?? "" };
}

function answerOf({ status, headers, body = "", stream }: ApiResponse, signal: AbortSignal | null): KubeAnswer {
  const chunks = stream ? new TextStream(stream, signal) : whole(body);
  const text = stream ? () => gathered(chunks) : async () => body;
  return {
    statusCode: status,
    headers,
    body: { [Symbol.asyncIterator]: () => chunks[Symbol.asyncIterator](), text, dump: async () => void (await text()) },
  };
}

async function* whole(body: string): AsyncGenerator<Uint8Array> {
  if (body !== "") yield Buffer.from(body);
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString("utf8");
}
