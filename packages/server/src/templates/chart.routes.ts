import { browseTemplateRegistry, createStackTemplateFromChart, inspectChart } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault, invalidValue, notFound } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { AddressRefused, Unreachable } from "../outbound/fetch.adapter.ts";
import { ChartUnknown } from "./chart-source.ts";
import { wrapChart } from "./chart-template.ts";
import type { Charts } from "./charts.adapter.ts";
import { makeTemplate, orgToWriteIn, refuseBrokenContent, refuseMalformedContent } from "./make-template.store.ts";
import { askPatterns } from "./patterns-asked.adapter.ts";
import type { Readers } from "./readers.adapter.ts";
import { isAskedFor, type TemplateRegistry } from "./registry.adapter.ts";
import { newVersionOf } from "./template.ts";

/** What the outside world refuses, in the words of an answer. */
function asFault(error: unknown, at: "query" | "body"): unknown {
  if (error instanceof ChartUnknown) return notFound("Chart");
  if (error instanceof AddressRefused) return invalidValue([at, "repo"], error.message);
  if (error instanceof Unreachable) return new Fault("bad_gateway", `The repository cannot be read: ${error.message}.`);
  return error;
}

interface Sources {
  readonly charts: Charts;
  readonly registry: TemplateRegistry;
  readonly readers: Readers;
}

export function chartRoutes(db: Queries, clock: Clock, { charts, registry, readers }: Sources): Route[] {
  return [
    route(inspectChart, signedIn, async ({ caller, query: { repo, name, version } }) =>
      charts.inspect(caller.id, repo, name, version).catch((error: unknown) => {
        throw asFault(error, "query");
      }),
    ),

    route(createStackTemplateFromChart, signedIn, async ({ caller, body, change, reply }) => {
      const { namespace, org_id, repo, chart: name, chart_version, parameters = [], ...said } = body;
      // First who asks: nobody is sent around the network for a template that they may not write.
      const orgId = await orgToWriteIn(db, caller, { namespace, org_id }, said.scope);
      const chart = await charts.inspect(caller.id, repo, name, chart_version).catch((error: unknown) => {
        throw asFault(error, "body");
      });
      const content = refuseMalformedContent({ ...said, ...wrapChart(repo, chart, parameters) });
      refuseBrokenContent(content, await askPatterns(readers, caller, content.parameters));
      const source = { repo, chart: name, chart_version: chart.chart_metadata.version };
      const template = await change((unit) => makeTemplate(unit, clock, { orgId, namespace, content, source }));
      sendEtag(reply, newVersionOf(template));
      return template;
    }),

    route(browseTemplateRegistry, signedIn, async ({ query }) => {
      const all = await registry().catch((error: unknown) => {
        throw error instanceof Unreachable
          ? new Fault("bad_gateway", `The template registry cannot be read: ${error.message}.`)
          : error;
      });
      const asked = all.filter((template) => isAskedFor(template, query.search, query.tag));
      const { limit, offset } = pageOf(query);
      return envelope(asked.slice(offset, offset + limit), asked.length, query);
    }),
  ];
}
