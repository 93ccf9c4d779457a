import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
  type ServerResponse,
} from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import type { KubeAccess } from "../../packages/operator/src/kube/kube-access.ts";
import { kubeAccessFrom } from "../../packages/operator/src/kube/kubeconfig.adapter.ts";

/** Requests to the API server by what they do, so that only those of one program are counted. */
export interface CountingProxy {
  readonly url: string;
  /** Since the last call. */
  take(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Passes plain HTTP on to the API server with the rights of the kubeconfig. */
export async function startCountingProxy(kubeconfig: string): Promise<CountingProxy> {
  const access = await kubeAccessFrom({ KUBECONFIG: kubeconfig });
  const { certificate, key } = await access.identity();
  const isPlain = access.server.startsWith("http:");
  const agent = isPlain
    ? new PlainAgent({ keepAlive: true })
    : new Agent({ keepAlive: true, ca: access.ca ?? "", cert: certificate ?? "", key: key ?? "" });
  let counts = new Map<string, number>();
  const server = createServer((asked, answer) => {
    const name = nameOf(asked);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    pass(access, agent, asked, answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

function pass({ server }: KubeAccess, agent: PlainAgent, asked: IncomingMessage, answer: ServerResponse): void {
  const { method = "GET", url = "/" } = asked;
  // The certificate says who asks.
  const { authorization: _, ...headers } = asked.headers;
  const send = agent instanceof Agent ? request : plainRequest;
  const onward = send(new URL(url, server), { method, headers, agent }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers);
    given.pipe(answer);
    given.on("error", () => answer.destroy());
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  asked.pipe(onward);
}

function nameOf({ method, url = "/" }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, "http://api");
  const [, kind = "", name] = /\/v1[^/]*\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/([^/]+))?/.exec(pathname) ?? [];
  const verb = method !== "GET" ? method : searchParams.has("watch") ? "WATCH" : name ? "GET" : "LIST";
  return `${verb} ${kind || pathname}`;
}

/** A kubeconfig that leads to the proxy, as JSON, which is YAML. */
export const kubeconfigFor = (url: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "proxy", cluster: { server: url } }],
    users: [{ name: "proxy", user: { token: "none" } }],
    contexts: [{ name: "proxy", context: { cluster: "proxy", user: "proxy" } }],
    "current-context": "proxy",
  });
