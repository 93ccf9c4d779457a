import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Health {
  readonly port: number;
  stop(): Promise<void>;
}

/** Serves the probes of a pod. Anybody may call it, so it answers nothing but a status code. */
export async function startHealth(port: number, isReady: () => boolean): Promise<Health> {
  const answers: Readonly<Record<string, () => boolean>> = { "/healthz": () => true, "/readyz": isReady };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split("?")[0] ?? ""];
    const isGood = answer?.() ?? false;
    response.writeHead(answer ? (isGood ? 200 : 503) : 404, { "content-type": "text/plain" });
    response.end(answer ? (isGood ? "ok\n" : "not ready\n") : "not found\n");
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
