import { type RegistryTemplate, StackTemplateFile } from "@binnacle/contract";
import { compileCheck } from "../http/validation.ts";
import { patternsHere } from "./pattern.ts";
import { templateProblems } from "./template-problems.ts";

const MOST_TEMPLATES = 1000;

const checkForm = compileCheck({ body: StackTemplateFile });

/** Those that are valid, by name: one broken template does not hide the others. Null where it is no list of templates. */
export function templatesIn(document: unknown): RegistryTemplate[] | null {
  const listed = Array.isArray(document) ? document : (document as { templates?: unknown } | null)?.templates;
  if (!Array.isArray(listed)) return null;
  return listed
    .slice(0, MOST_TEMPLATES)
    .filter((body) => checkForm({ path: {}, query: {}, cookie: {}, body }).length === 0)
    .filter((template: RegistryTemplate) => templateProblems(template, patternsHere).length === 0)
    .toSorted((one: RegistryTemplate, other: RegistryTemplate) => (one.name < other.name ? -1 : 1));
}
