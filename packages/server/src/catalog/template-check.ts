import { StackTemplateFile } from "@binnacle/contract";
import { templateProblems } from "../templates/template-problems.ts";
import type { Kind } from "./catalog-file.ts";

export const TEMPLATES: Kind<typeof StackTemplateFile> = {
  schema: StackTemplateFile,
  nameOf: ({ name }) => name,
  problems: templateProblems,
};
