import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as OTLP writes it in JSON. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  /** Of the span, by name. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of the process that sent it, by name. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A fake OpenTelemetry collector. It takes OTLP over HTTP as JSON, and keeps what it gets. */
export interface FakeCollector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The bodies as they came. */
  readonly texts: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Answers all that follows with this status. */
  answerWith(status: number): void;
  stop(): Promise<void>;
}

type Named = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
type SentSpan = Omit<ReceivedSpan, "attributes" | "resource"> & { readonly attributes: Named };
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Named };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

const byName = (attributes: Named = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startFakeCollector(): Promise<FakeCollector> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let status = 200;

  function take(text: string): void {
    texts.push(text);
    for (const { resource, scopeSpans } of (JSON.parse(text) as Sent).resourceSpans) {
      const shared = byName(resource.attributes);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: byName(span.attributes), resource: shared });
      }
    }
  }

  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      headers.push(request.headers);
      const isTraces = request.method === "POST" && request.url === "/v1/traces";
      if (isTraces && status === 200) take(text);
      response.writeHead(isTraces ? status : 404, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    headers,
    answerWith(given) {
      status = given;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
