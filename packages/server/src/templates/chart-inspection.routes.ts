import { AddressRefused, ChartUnknown, ChartUnusable, repositoryHost, Unreachable } from "@binnacle/charts";
import { browseTemplateRegistry, createStackTemplateFromChart, inspectChart } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { orgIdsSeenBy } from "../access/visibility.store.ts";
import type { RepositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import { Fault, invalidValue, notFound } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { ANONYMOUS, type ChartAccess, type Charts } from "./chart-inspection.adapter.ts";
import { wrapChart } from "./chart-template.ts";
import {
  authorizedPlace,
  createTemplate,
  refuseBrokenContent,
  refuseMalformedContent,
} from "./create-template.runner.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { visibleOrg } from "./template.store.ts";
import { newVersionOf } from "./template.ts";
import { matchesSearch, readTemplateCatalog, type TemplateCatalog } from "./template-catalog.adapter.ts";

/**
 * Converts failures of repositories to answers. An unreachable host always gets the same message: differences would
 * reveal which services listen in the server's network.
 */
function asFault(error: unknown, at: "query" | "body", repo: string): unknown {
  const host = repositoryHost(repo);
  if (error instanceof ChartUnknown) return notFound("Chart");
  if (error instanceof AddressRefused) return invalidValue([at, "repo"], error.message);
  if (error instanceof Unreachable) return badGateway(`The chart repository ${host} cannot be read.`, error);
  if (error instanceof ChartUnusable) {
    return badGateway(`The chart repository ${host} has no usable chart: ${error.message}.`, error);
  }
  return error;
}

const badGateway = (message: string, cause: Error) => new Fault("bad_gateway", message, { cause });

interface ChartPorts extends Ports<"db" | "clock"> {
  readonly charts: Charts;
  readonly templateCatalog: TemplateCatalog;
  readonly readers: Readers;
  readonly credentials: RepositoryCredentials;
}

export function chartRoutes({ db, clock, charts, templateCatalog, readers, credentials }: ChartPorts): Route[] {
  /** The credentials of an organization may be used by its members only. */
  async function accessOf(caller: Caller, orgId: string | undefined): Promise<ChartAccess> {
    if (orgId !== undefined) {
      await visibleOrg(db, caller, orgId);
      return credentials.of(orgId);
    }
    const [only, ...more] = await orgIdsSeenBy(db, caller);
    return only === undefined || more.length > 0 ? ANONYMOUS : credentials.of(only);
  }

  return [
    route(inspectChart, signedIn, async ({ caller, query: { repo, name, version, org_id } }) => {
      const access = await accessOf(caller, org_id);
      return charts.inspect(caller.id, { repo, name, version }, access).catch((error: unknown) => {
        throw asFault(error, "query", repo);
      });
    }),

    route(createStackTemplateFromChart, signedIn, async ({ caller, body, change, reply }) => {
      const { namespace, org_id, project_id, cluster_id, ...rest } = body;
      const { repo, chart: name, chart_version, parameters = [], ...fields } = rest;
      // The caller is authorized first: no repository is requested for a template that the caller may not create.
      const place = await authorizedPlace(db, caller, { namespace, org_id, project_id, cluster_id }, fields.scope);
      const address = { repo, name, version: chart_version };
      const access = await credentials.of(place.org_id);
      const chart = await charts.inspect(caller.id, address, access).catch((error: unknown) => {
        throw asFault(error, "body", repo);
      });
      const content = refuseMalformedContent({ ...fields, ...wrapChart(repo, chart, parameters) });
      refuseBrokenContent(content, await askPatterns(readers, caller, content.parameters));
      const source = { repo, chart: name, chart_version: chart.chart_metadata.version };
      const template = await change((unit) => createTemplate(unit, clock, { place, content, source }));
      sendEtag(reply, newVersionOf(template));
      return template;
    }),

    route(browseTemplateRegistry, signedIn, async ({ query }) => {
      const all = await readTemplateCatalog(templateCatalog);
      const asked = all.filter((template) => matchesSearch(template, query.search, query.tag));
      const { limit, offset } = pageOf(query);
      return envelope(asked.slice(offset, offset + limit), asked.length, query);
    }),
  ];
}
