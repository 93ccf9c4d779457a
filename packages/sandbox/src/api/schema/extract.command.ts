import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KINDS, MESSAGES } from "../kinds.ts";
import { type OpenApiDefinitions, typesFrom } from "./extract.ts";
import { fieldsOf, type GoField, structsIn } from "./go-types.ts";

/**
 * Takes from the OpenAPI document of a real API server (`kubectl get --raw /openapi/v2`) and from the Go sources of its
 * types what the sandbox needs to know: `node extract.command.ts <document> <folder of the Go modules k8s.io> <version>`.
 */
const [document = "", modules = "", version = ""] = process.argv.slice(2);
const { definitions } = JSON.parse(await readFile(document, "utf8")) as { definitions: OpenApiDefinitions };

const OTHER_FOLDERS: Readonly<Record<string, string>> = {
  meta: "apimachinery@/pkg/apis/meta",
  apiextensions: "apiextensions-apiserver@/pkg/apis/apiextensions",
  apiregistration: "kube-aggregator@/pkg/apis/apiregistration",
};
const structs = new Map<string, ReturnType<typeof structsIn>>();

function goFieldsOf(type: string): ReadonlyMap<string, GoField> {
  const [group = "", typeVersion = "", name = ""] = type.split(".");
  const folder = join(modules, (OTHER_FOLDERS[group] ?? `api@/${group}`).replace("@", `@${version}`), typeVersion);
  const known = structs.get(folder) ?? readStructs(folder);
  structs.set(folder, known);
  return fieldsOf(known, name);
}

function readStructs(folder: string) {
  const files = readdirSync(folder).filter((file) => /^types.*\.go$/.test(file));
  return new Map(files.flatMap((file) => [...structsIn(readFileSync(join(folder, file), "utf8"))]));
}

const roots = [...KINDS, ...MESSAGES].map(({ type }) => type);
const text = JSON.stringify(typesFrom(definitions, roots, goFieldsOf), null, 2);
await writeFile(new URL("kubernetes-types.json", import.meta.url), `${text}\n`);
