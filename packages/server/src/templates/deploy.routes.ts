import { randomBytes } from "node:crypto";
import { type ComponentInput, createStackTemplateFromApp, deployStackTemplate } from "@binnacle/contract";
import { isOrgAdmin } from "../access/role.ts";
import { findNamesake, findObjectNamesake, lockObjectNames } from "../apps/app.store.ts";
import { addressOf } from "../apps/app.ts";
import { objectNames } from "../apps/component.ts";
import { type AppPorts, createApp } from "../apps/operate.runner.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { sendEtag } from "../http/etag.ts";
import { inApp, inProject } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { lockNames } from "../projects/project.store.ts";
import { captureApp } from "./app-capture.ts";
import {
  authorizedPlace,
  createTemplate,
  refuseBrokenContent,
  refuseMalformedContent,
} from "./create-template.runner.ts";
import { patternsChecked } from "./pattern.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { appName, componentsToDeploy } from "./render.ts";
import { templateAt } from "./template.routes.ts";
import { newVersionOf, templateNotFound } from "./template.ts";

const DEFAULT_TIMEOUT_SECONDS = 300;
const SUFFIX_BYTES = 2;

async function freeName(tx: Tx, projectId: string, name: string, components: readonly ComponentInput[]) {
  await lockNames(tx, projectId);
  await lockObjectNames(tx, projectId);
  const isTaken = async (wanted: string) =>
    (await findNamesake(tx, projectId, wanted)) !== undefined ||
    (await findObjectNamesake(tx, projectId, wanted, objectNames(wanted, components))) !== null;
  let free = appName(name, components);
  // The suffix grows with each taken name, so that the loop ends.
  for (let bytes = SUFFIX_BYTES; await isTaken(free); bytes++) {
    free = appName(name, components, randomBytes(bytes).toString("hex"));
  }
  return free;
}

/** Routes that deploy a template as an app, and that create a template of an app. */
export function templateDeployRoutes(db: Queries, ports: AppPorts, readers: Readers): Route[] {
  return [
    route(
      deployStackTemplate,
      inProject("editor", ({ body }) => body.project_id),
      async ({ caller, project, standing, params, query, body, change }) => {
        const { template } = await templateAt(db, caller, { params, query });
        // A template that is not global may be deployed in its own organization only, even by a member of both.
        if (template.scope !== "global" && template.org_id !== project.org_id) throw templateNotFound();
        const given = body.parameters ?? {};
        const components = componentsToDeploy(template, given, {
          randomBytes,
          findDefinition: ports.findDefinition,
          chartHosts: ports.chartHosts,
          patterns: await askPatterns(readers, caller, template.parameters, given),
        });
        return change(async (unit) => {
          const name = await freeName(unit.db, project.id, template.name, components);
          const address = `${template.namespace}/${template.name}`;
          unit.record({
            action: "stack_template.deploy",
            resource: { type: "stack_template", id: template.id, name: address },
            orgId: project.org_id,
            changes: { project_id: project.id, deploy_name: name, version: template.version },
          });
          await createApp(unit, ports, {
            project,
            name,
            description: template.description,
            components,
            createdBy: caller.email,
            isOrgAdmin: isOrgAdmin(standing),
            timeoutSeconds: body.timeout ?? DEFAULT_TIMEOUT_SECONDS,
          });
          return { message: `${name} is being deployed.`, deploy_name: name, namespace: project.namespace };
        });
      },
    ),

    route(
      createStackTemplateFromApp,
      inApp("viewer", (input) => addressOf(input)),
      async ({ caller, app, body, change, reply }) => {
        const { preserve_export_refs = true, project_id, cluster_id, ...said } = body;
        const { namespace, org_id } = app;
        const content = refuseMalformedContent({ ...said, ...captureApp(app, preserve_export_refs) });
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
