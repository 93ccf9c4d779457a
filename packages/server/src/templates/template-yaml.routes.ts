import { ReadingProblem } from "@binnacle/charts";
import {
  createStackTemplateFromYaml,
  renameInComponents,
  type StackTemplateContent,
  type StackTemplateReading,
} from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import { invalid, invalidValue, readableItems } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { authorizedPlace, contentItems, createTemplate } from "./create-template.runner.ts";
import type { TemplatePorts } from "./deploy.routes.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { newVersionOf, problemItems } from "./template.ts";
import { addonSecretProblems, templateProblems } from "./template-problems.ts";
import { itemsIn, withNamespace, type YamlPart } from "./template-yaml.ts";

interface Means {
  readonly readers: Readers;
  readonly caller: Caller;
  readonly findDefinition: FindDefinition;
}

/** Returns the content and all problems. Throws the 422 of a text that cannot be read. */
async function checkedContent(
  part: YamlPart,
  text: string,
  namespace: string | undefined,
  { readers, caller, findDefinition }: Means,
): Promise<StackTemplateReading> {
  const reading = await readers.read(caller.id, "template", text).catch((error: unknown) => {
    throw error instanceof ReadingProblem
      ? invalidValue(["body", part], `The YAML is refused: ${error.message}`)
      : error;
  });
  if (reading.kind === "refused") throw invalidValue(["body", part], reading.msg);
  if (reading.kind === "malformed") {
    return { valid: false, errors: [{ loc: ["body", part], msg: reading.msg, type: "value_error" }], template: null };
  }
  const value = withNamespace(reading.value, namespace);
  renameInComponents(value);
  const malformed = contentItems(value);
  if (malformed.length > 0) return { valid: false, errors: readableItems(itemsIn(part, malformed)), template: null };
  const content = value as StackTemplateContent;
  const { parameters = [], components } = content;
  const patterns = await askPatterns(readers, caller, parameters);
  const problems = [
    ...templateProblems({ parameters, components }, patterns),
    ...addonSecretProblems(components, findDefinition),
  ];
  const errors = readableItems(problemItems(problems, ["body", part]));
  return errors.length > 0 ? { valid: false, errors, template: null } : { valid: true, errors, template: content };
}

export function templateYamlRoutes({ db, clock, findDefinition, readers }: TemplatePorts): Route[] {
  return [
    route(createStackTemplateFromYaml, signedIn, async ({ caller, body, change, reply }) => {
      const part = body.file === undefined ? "yaml_content" : "file";
      const reading = await checkedContent(part, body[part] ?? "", body.namespace, { readers, caller, findDefinition });
      if (!body.create) return reading;
      const { template: content, errors } = reading;
      if (!content) throw invalid(errors);
      const { namespace } = content;
      if (!namespace) throw invalid([{ loc: ["body", "namespace"], msg: "Field required", type: "missing" }]);
      const { org_id, project_id, cluster_id } = body;
      const place = await authorizedPlace(db, caller, { namespace, org_id, project_id, cluster_id }, content.scope);
      const template = await change((unit) => createTemplate(unit, clock, { place, content }));
      reply.code(201);
      sendEtag(reply, newVersionOf(template));
      return template;
    }),
  ];
}
