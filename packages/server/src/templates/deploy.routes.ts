import { randomBytes } from "node:crypto";
import {
  type ComponentInput,
  createStackTemplateFromApp,
  deployStackTemplate,
  findSharedName,
  objectNames,
  type ValidationItem,
} from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { isOrgAdmin } from "../access/role.ts";
import { findNamesakes, lockObjectNames } from "../apps/app.store.ts";
import { addressOf } from "../apps/app.ts";
import { appPlace } from "../apps/app-place.store.ts";
import { newAppProblems } from "../apps/component-change.ts";
import { type AppPorts, createApp } from "../apps/operate.runner.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { Fault, invalid } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { lockNames } from "../projects/project.store.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import { captureApp } from "./app-capture.ts";
import {
  authorizedPlace,
  createTemplate,
  refuseBrokenContent,
  refuseMalformedContent,
} from "./create-template.runner.ts";
import { patternsChecked } from "./pattern.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { appName, attributeToParameters, componentsToDeploy } from "./render.ts";
import { templateAt } from "./template.routes.ts";
import { newVersionOf, type Template, templateNotFound } from "./template.ts";
import { readTemplateCatalog, type TemplateCatalog } from "./template-catalog.adapter.ts";

const DEFAULT_TIMEOUT_SECONDS = 300;
const SUFFIX_BYTES = 2;

async function freeName(tx: Tx, projectId: string, name: string, components: readonly ComponentInput[]) {
  await lockNames(tx, projectId);
  await lockObjectNames(tx, projectId);
  const isTaken = async (wanted: string) => {
    const others = await findNamesakes(tx, projectId, wanted);
    return (
      others.some((other) => other.name === wanted) || findSharedName(others, objectNames(wanted, components)) !== null
    );
  };
  let free = appName(name, components);
  // The suffix grows with each taken name, so that the loop ends.
  for (let bytes = SUFFIX_BYTES; await isTaken(free); bytes++) {
    free = appName(name, components, randomBytes(bytes).toString("hex"));
  }
  return free;
}

/** A stored template, or one of the catalog. Nobody owns the latter, so it has no id and no organization. */
type Deployable = Pick<
  Template,
  "namespace" | "name" | "version" | "scope" | "description" | "parameters" | "components"
> & {
  readonly id: string | null;
  readonly org_id: string | null;
};

async function deployable(
  db: Queries,
  caller: Caller,
  address: Parameters<typeof templateAt>[2],
  templateCatalog: TemplateCatalog,
): Promise<Deployable> {
  try {
    return (await templateAt(db, caller, address)).template;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== "not_found" || address.query.org_id !== undefined) throw error;
    const { namespace, name } = address.params;
    const entry = (await readTemplateCatalog(templateCatalog)).find(
      (each) => each.namespace === namespace && each.name === name,
    );
    if (!entry) throw error;
    return { ...entry, id: null, org_id: null, scope: "global" };
  }
}

export interface TemplatePorts extends AppPorts, Ports<"db"> {
  readonly readers: Readers;
  readonly templateCatalog: TemplateCatalog;
}

/** Routes that deploy a template as an app, and that create a template of an app. */
export function templateDeployRoutes(ports: TemplatePorts): Route[] {
  const { db, readers, templateCatalog } = ports;
  return [
    route(
      deployStackTemplate,
      at(projectPlace, "editor", ({ body }) => body.project_id),
      async ({ caller, project, standing, params, query, body, change }) => {
        const template = await deployable(db, caller, { params, query }, templateCatalog);
        // A template that is not global may be deployed in its own organization only, even by a member of both.
        if (template.scope !== "global" && template.org_id !== project.org_id) throw templateNotFound();
        const given = body.parameters ?? {};
        const components = componentsToDeploy({ ...template, appName: body.name }, given, {
          randomBytes,
          findDefinition: ports.findDefinition,
          chartHosts: ports.chartHosts,
          patterns: await askPatterns(readers, caller, template.parameters, given),
        });
        return change(async (unit) => {
          const name = body.name ?? (await freeName(unit.db, project.id, template.name, components));
          const address = `${template.namespace}/${template.name}`;
          unit.record({
            action: "stack_template.deploy",
            resource: { type: "stack_template", id: template.id, name: address },
            orgId: project.org_id,
            changes: { project_id: project.id, deploy_name: name, version: template.version },
          });
          const located = (items: readonly ValidationItem[]) => attributeToParameters(items, template.components);
          const problems = newAppProblems(name, components, ports);
          if (problems.length > 0) throw invalid(located(problems));
          await createApp(unit, ports, {
            project,
            name,
            description: template.description,
            components,
            createdBy: caller.email,
            isOrgAdmin: isOrgAdmin(standing),
            timeoutSeconds: body.timeout ?? DEFAULT_TIMEOUT_SECONDS,
            located,
          });
          return { message: `${name} is being deployed.`, deploy_name: name, namespace: project.namespace };
        });
      },
    ),

    route(
      createStackTemplateFromApp,
      at(appPlace, "viewer", (input) => addressOf(input)),
      async ({ caller, app, body, change, reply }) => {
        const { preserve_export_refs = true, project_id, cluster_id, ...fields } = body;
        const { namespace, org_id } = app;
        const content = refuseMalformedContent({ ...fields, ...captureApp(app, preserve_export_refs) });
        refuseBrokenContent(content, patternsChecked, ports.findDefinition);
        const { scope = "project" } = content;
        const wanted = {
          namespace,
          org_id,
          project_id: project_id ?? (scope === "project" ? app.project_id : undefined),
          cluster_id: cluster_id ?? (scope === "cluster" ? app.cluster_id : undefined),
        };
        const place = await authorizedPlace(db, caller, wanted, scope);
        const source = { app: `${namespace}/${app.name}` };
        const template = await change((unit) => createTemplate(unit, ports.clock, { place, content, source }));
        sendEtag(reply, newVersionOf(template));
        return template;
      },
    ),
  ];
}
