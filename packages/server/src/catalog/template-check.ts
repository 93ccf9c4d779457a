import { StackTemplateFile } from "@binnacle/contract";
import { patternsHere } from "../templates/pattern.ts";
import { templateProblems } from "../templates/template-problems.ts";
import type { Kind } from "./catalog-file.ts";

export const TEMPLATES: Kind<typeof StackTemplateFile> = {
  schema: StackTemplateFile,
  nameOf: ({ name }) => name,
  problems: (template) => templateProblems(template, patternsHere),
};
