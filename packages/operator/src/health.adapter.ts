import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = readonly [status: number, text: string];

export interface Health {
  readonly port: number;
  stop(): Promise<void>;
}

export interface HealthFacts {
  /** Otherwise Kubernetes starts the process again. */
  isAlive(): boolean;
  isReady(): boolean;
  metrics(): string;
}

/** Serves probes and metrics. Anybody in the cluster may call it, so it names nothing of what runs there. */
export async function startHealth(port: number, facts: HealthFacts): Promise<Health> {
  const probe = (isGood: boolean, otherwise: string): Answer => (isGood ? [200, "ok\n"] : [503, otherwise]);
  const answers: Readonly<Record<string, () => Answer>> = {
    "/healthz": () => probe(facts.isAlive(), "a reconcile hangs\n"),
    "/readyz": () => probe(facts.isReady(), "not ready\n"),
    "/metrics": () => [200, facts.metrics()],
  };
  const server = createServer((request, response) => {
    const [status, text] = answers[request.url?.split("?")[0] ?? ""]?.() ?? [404, "not found\n"];
    response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(text);
  });
  server.listen(port);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
