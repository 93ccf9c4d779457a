import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type * as contract from "@binnacle/contract";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  ACCESS_FILE,
  accessSource,
  operationsOf,
  TABLE_FILE,
  TYPES_FILE,
  tableSource,
  typesSource,
} from "../../../scripts/client-source.ts";
import type { LogLine } from "./log-cursor.ts";
import {
  type Answer,
  type CallName,
  describeOperation,
  type Input,
  type OperationName,
  targetOf,
} from "./operation.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const document = JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8"));
const operations = operationsOf(document);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-client-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stdout}${stderr}`);
  return stdout;
}

test("[CN1] the client's tables and types are those of openapi.json; `npm run openapi` writes them", () => {
  expect(operations.length).toBeGreaterThan(100);
  expect(readFileSync(TABLE_FILE, "utf8")).toBe(tableSource(document));
  expect(readFileSync(TYPES_FILE, "utf8")).toBe(typesSource(document));
  expect(readFileSync(ACCESS_FILE, "utf8")).toBe(accessSource(document));
});

test.each(operations.map((it) => [it.id, it] as const))("[CN1] %s is sent as openapi.json describes it", (id, it) => {
  const described = describeOperation(id as OperationName);
  const taken = it.parameters.filter(({ in: place }) => place === "path" || place === "query");
  const input = Object.fromEntries(taken.map(({ name }, index) => [name, `v${index}`]));
  const url = new URL(`http://binnacle.test${targetOf(described, { ...input, body: {} })}`);
  const pathOf = it.path.replace(/\{(\w+)\}/g, (_, name: string) => input[name] ?? "");
  const queryOf = taken.flatMap(({ name, in: place }) => (place === "query" ? [[name, input[name]]] : []));
  const hasHeader = (name: string) =>
    it.parameters.some((parameter) => parameter.in === "header" && parameter.name === name);
  expect([described.method, url.pathname, [...url.searchParams]]).toEqual([it.method, pathOf, queryOf]);
  expect(described).toMatchObject({ isOpen: it.isOpen, creates: hasHeader("Idempotency-Key") });
  const types = {
    json: "application/json",
    form: "application/x-www-form-urlencoded",
    multipart: "multipart/form-data",
  };
  if (it.body) expect(types[described.bodyType]).toBe(it.body.type);
  // All that the client tells apart: an empty answer, JSON, and a stream. A WebSocket has a function of its own.
  for (const [status, content] of it.successes) {
    if (status === 101) return expect([id, content]).toEqual(["execComponent", {}]);
    expect(status >= 200 && status < 300).toBe(true);
    const asJson = described.isStream && id !== "getProvisioningLogs" ? [] : ["application/json"];
    const expected = status === 204 ? [] : [...asJson, ...(described.isStream ? ["text/event-stream"] : [])];
    expect(Object.keys(content)).toEqual(expected);
  }
});

type All = typeof contract;
type Contract = { [K in keyof All as All[K] extends contract.Operation ? All[K]["id"] : never]: All[K] };
type Of<N extends CallName> = Contract[N] extends contract.Operation ? Contract[N] : never;
type BodyField<O extends contract.Operation> = O["body"] extends object ? { body: contract.BodyOf<O> } : unknown;
type InputOf<O extends contract.Operation> = contract.ParamsOf<O> & contract.QueryOf<O> & BodyField<O> & object;
/** Where the contract's own types say no more than that there is an object, there is nothing to compare. */
type Comparable<T> = T extends readonly (infer I)[]
  ? readonly Comparable<I>[]
  : T extends object
    ? keyof T extends never
      ? never
      : string extends keyof T
        ? never
        : { [K in keyof T]: Comparable<T[K]> }
    : T;
type Fits<T, U> = [Comparable<T>] extends [U] ? true : false;
type AnswersThatDiffer = {
  [N in CallName]: Fits<contract.AnswerOf<Of<N>>, Answer<N>> extends true ? never : N;
}[CallName];
type InputsThatDiffer = { [N in CallName]: Fits<InputOf<Of<N>>, Input<N>> extends true ? never : N }[CallName];

test("[CN1] the types accept whatever the contract's schemas say", () => {
  // The type checker is the test: each of these is the names of operations whose types have come apart.
  const answers: [AnswersThatDiffer] extends [never] ? [] : AnswersThatDiffer = [];
  const inputs: [InputsThatDiffer] extends [never] ? [] : InputsThatDiffer = [];
  const missing: Exclude<keyof Contract, OperationName> extends never ? [] : Exclude<keyof Contract, OperationName> =
    [];
  const lines: contract.LogLine extends LogLine ? [] : "LogLine" = [];
  expect([answers, inputs, missing, lines].flat()).toEqual([]);
});

test("[CN1] no type of the API is hidden by another export of the same name", () => {
  const index = readFileSync(join(ROOT, "packages/client/src/index.ts"), "utf8");
  const own = [...index.matchAll(/\b([A-Z]\w+)\b(?=[,\s]*[,}])/g)].map((match) => match[1] ?? "");
  const ofApi = new Set(Object.keys(document.components.schemas));
  expect(own.length).toBeGreaterThan(30);
  expect(own.filter((name) => ofApi.has(name))).toEqual([]);
});

test("[CN27] the client takes at most 17 KB compressed in a browser's bundle, with nothing of Node or of the schemas", async () => {
  const bundle = await rolldown({
    input: join(ROOT, "packages/client/src/index.ts"),
    platform: "browser",
    external: [],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  expect(output).toHaveLength(1);
  const [{ code, imports, moduleIds }] = output;
  expect(gzipSync(code).length).toBeLessThanOrEqual(17 * 1024);
  expect(imports).toEqual([]);
  expect(moduleIds.filter((id) => !id.includes("packages/client/src/"))).toEqual([]);
  expect(code).not.toMatch(/\bnode:|\bprocess\.|\bBuffer\b|\brequire\(/);
});

test("[CN28] the package holds its code, types, README and licence, needs no other types, and runs on its own", () => {
  const build = join(folder, "build");
  run(process.execPath, [join(ROOT, "scripts/build-client.ts"), "--out", build], ROOT);
  const [packed] = JSON.parse(run("npm", ["pack", "--dry-run", "--json"], build));
  const files: string[] = packed.files.map(({ path }: { path: string }) => path);
  const modules = readdirSync(join(ROOT, "packages/client/src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => [`dist/${file.replace(/ts$/, "js")}`, `dist/${file.replace(/ts$/, "d.ts")}`]);
  expect(files.sort()).toEqual(["LICENSE", "README.md", "package.json", ...modules].sort());
  expect(JSON.parse(readFileSync(join(build, "package.json"), "utf8"))).toMatchObject({
    name: "@binnacle/client",
    license: "Apache-2.0",
    type: "module",
    engines: { node: ">=20" },
    sideEffects: false,
  });

  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules/@binnacle"), { recursive: true });
  cpSync(build, join(project, "node_modules/@binnacle/client"), { recursive: true });
  writeFileSync(
    join(project, "use.ts"),
    [
      'import { createClient, NotFound } from "@binnacle/client";',
      'const client = createClient({ url: "https://binnacle.test", token: "t" });',
      'const phase: "running" | string = (await client.call("getApp", { namespace: "a", name: "b", project_id: "c" })).phase;',
      'for await (const { id } of client.pages("listApps")) console.log(id, phase, NotFound);',
      'for await (const item of client.stream("streamEvents")) if (item.type === "event") console.log(item.data.resource);',
      "// @ts-expect-error a name is required",
      'await client.call("createOrg", { body: {} });',
      "// @ts-expect-error there is no such operation",
      'await client.call("noSuchThing");',
      "// @ts-expect-error organizations have no version to match",
      'await client.call("updateOrg", { id: "1", body: { name: "a" } }, { ifMatch: "x" });',
    ].join("\n"),
  );
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
  };
  const node = { lib: ["es2022"], types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] };
  for (const platform of [{ lib: ["es2022", "dom"], types: [] }, node]) {
    const options = { compilerOptions: { ...compilerOptions, ...platform }, files: ["use.ts"] };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(options));
    expect(run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", project], project)).toBe("");
  }
  const script =
    'import { createClient } from "@binnacle/client"; console.log(typeof createClient({ url: "http://x" }).call)';
  expect(run(process.execPath, ["--input-type=module", "-e", script], project)).toBe("function\n");
});
