import type { FastifyInstance } from "fastify";
import { FOR_ANY_HOST } from "../http/addressed-host.ts";
import { refuseOtherMethods } from "../http/refusals.adapter.ts";
import type { Chart } from "./operator-chart.adapter.ts";

/**
 * Serves a Helm repository with the operator's chart. It is public, because it contains nothing that is not in the
 * release.
 */
export function registerCharts(app: FastifyInstance, chart: Chart): void {
  const files: readonly (readonly [name: string, mediaType: string, content: string | Buffer])[] = [
    ["index.yaml", "application/yaml; charset=utf-8", chart.index],
    [chart.fileName, "application/gzip", chart.archive],
    ["README.md", "text/plain; charset=utf-8", chart.readme],
  ];
  for (const [name, mediaType, content] of files) {
    app.get(`/charts/${name}`, FOR_ANY_HOST, async (_request, reply) => reply.type(mediaType).send(content));
    refuseOtherMethods(app, `/charts/${name}`, ["GET"]);
  }
}
