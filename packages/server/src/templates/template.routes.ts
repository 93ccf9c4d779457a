import {
  type BodyOf,
  createStackTemplate,
  deleteStackTemplate,
  getStackTemplate,
  listStackTemplates,
  updateStackTemplate,
} from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Queries } from "../database/transaction.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { type Guard, type Input, type SignedIn, signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { authorizedPlace, createTemplate, problemsBeside, refuseBrokenContent } from "./create-template.runner.ts";
import type { TemplatePorts } from "./deploy.routes.ts";
import { patternsChecked } from "./pattern.ts";
import { askPatterns } from "./readers.adapter.ts";
import { deleteTemplate, findCandidates, listTemplates, lockTemplate, updateTemplate } from "./template.store.ts";
import {
  auditedUpdate,
  type Candidate,
  chooseTemplate,
  newVersionOf,
  refuseUnlessWriter,
  type Template,
  versionOf,
  wireSummary,
  wireTemplate,
} from "./template.ts";

const resourceOf = ({ id, namespace, name }: Template) => ({
  type: "stack_template",
  id,
  name: `${namespace}/${name}`,
});

interface Address {
  readonly params: { readonly namespace: string; readonly name: string };
  readonly query: { readonly org_id?: string };
}

/** Throws the 404 or the 409 where no template or several match the address. */
export async function templateAt(db: Queries, caller: Caller, { params, query }: Address): Promise<Candidate> {
  const candidates = await findCandidates(db, caller, { ...params, orgId: query.org_id });
  return chooseTemplate(candidates);
}

type CreateInput = Input<unknown, unknown, BodyOf<typeof createStackTemplate>>;

/** The handler checks well-formed content, because it can test the patterns. */
const creator = (findDefinition: FindDefinition): Guard<SignedIn, CreateInput> => ({
  ...signedIn,
  problemsOf: ({ body: { parameters = [], components }, isPartial }) =>
    problemsBeside({ parameters, components: components ?? [] }, findDefinition, isPartial || components === undefined),
});

export function templateRoutes({ db, clock, findDefinition, readers }: TemplatePorts): Route[] {
  async function templateToWrite(caller: Caller, address: Address): Promise<Template> {
    const { template, standing } = await templateAt(db, caller, address);
    refuseUnlessWriter(template.scope, standing);
    return template;
  }

  return [
    route(listStackTemplates, signedIn, async ({ caller, query }) => {
      const { templates, total } = await listTemplates(db, caller, query, pageOf(query));
      return envelope(templates.map(wireSummary), total, query);
    }),

    route(createStackTemplate, creator(findDefinition), async ({ caller, body, change, reply }) => {
      const { namespace, org_id, project_id, cluster_id, ...content } = body;
      refuseBrokenContent(content, await askPatterns(readers, caller, content.parameters), findDefinition);
      const wanted = { namespace, org_id, project_id, cluster_id };
      const place = await authorizedPlace(db, caller, wanted, content.scope);
      const template = await change((unit) => createTemplate(unit, clock, { place, content }));
      sendEtag(reply, newVersionOf(template));
      return template;
    }),

    route(getStackTemplate, signedIn, async ({ caller, params, query, reply }) => {
      const { template } = await templateAt(db, caller, { params, query });
      sendEtag(reply, versionOf(template));
      return wireTemplate(template);
    }),

    route(updateStackTemplate, signedIn, async ({ caller, params, query, body, change, headers, reply }) => {
      const { id } = await templateToWrite(caller, { params, query });
      const patterns = body.parameters ? await askPatterns(readers, caller, body.parameters) : patternsChecked;
      const template = await change(async ({ db: tx, record }) => {
        const current = await lockTemplate(tx, id);
        requireMatch(headers, versionOf(current));
        const next: Template = { ...current, ...body, generation: current.generation + 1, updated_at: clock() };
        refuseBrokenContent(next, patterns, findDefinition, { judgesApp: body.components !== undefined });
        await updateTemplate(tx, next);
        record({
          action: "stack_template.update",
          resource: resourceOf(next),
          orgId: next.org_id,
          ...auditedUpdate(current, body),
        });
        return next;
      });
      sendEtag(reply, versionOf(template));
      return wireTemplate(template);
    }),

    route(deleteStackTemplate, signedIn, async ({ caller, params, query, change, headers }) => {
      const { id } = await templateToWrite(caller, { params, query });
      return change(async ({ db: tx, record }) => {
        const template = await lockTemplate(tx, id);
        requireMatch(headers, versionOf(template));
        await deleteTemplate(tx, id);
        record({ action: "stack_template.delete", resource: resourceOf(template), orgId: template.org_id });
        return null;
      });
    }),
  ];
}
