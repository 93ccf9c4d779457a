import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { certificate } from "./authority.ts";
import { HOST, helm, NODE_DIR } from "./node.ts";

/** A chart repository of a company, with a certificate by its own authority. */
export interface ChartRepository {
  readonly url: string;
  close(): void;
}

/** The chart that `helm create` writes, which many charts began as. */
export const CHART = { name: "starter", version: "0.1.0" };

export async function serveCharts(): Promise<ChartRepository> {
  const folder = join(NODE_DIR, "charts");
  mkdirSync(folder, { recursive: true });
  await helm("create", join(folder, CHART.name));
  await helm("package", join(folder, CHART.name), "--destination", folder);
  await helm("repo", "index", folder);
  const server = createServer(certificate("charts"), ({ url = "/" }, response) => {
    const name = basename(url);
    if (!/^(index\.yaml|[a-z]+-[\d.]+\.tgz)$/.test(name)) return response.writeHead(404).end();
    response.end(readFileSync(join(folder, name)));
  });
  server.listen(0, HOST);
  await once(server, "listening");
  return {
    url: `https://${HOST}:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
