import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { OperationName } from "@binnacle/client";
import { describe, expect, test } from "vitest";
import { type Command, type Field, type Given, isReference, place } from "./command.ts";
import { commandLine, lineTable } from "./command-line.ts";
import { COMMANDS } from "./commands.ts";
import { machine } from "./host.fixture.ts";

const SECRET = "hunter2-and-more";

/** The words of each line, as a shell takes it apart. */
const splitByShell = (lines: readonly string[]): string[][] =>
  execFileSync("sh", ["-c", lines.map((line) => `printf '%s\\0' ${line}; printf '\\1'`).join("\n")], {
    encoding: "utf8",
  })
    .split("\u0001")
    .slice(0, -1)
    .map((words) => words.split("\0").slice(0, -1));

const PLACES = ["--org", "--project", "--cluster"];

function example({ kind = "text", choices, constant, from }: Field): unknown {
  if (constant !== undefined) return constant;
  if (choices) return choices[0];
  if (kind === "integer") return 3;
  if (kind === "flag") return true;
  if (kind === "list") return ["one", "two"];
  if (kind === "map") return { host: "it's $(here)", count: 3, isOn: true, three: "3", isText: "true" };
  if (kind === "secret") return SECRET;
  if (kind === "key") return { API_KEY: SECRET };
  return `it's "$(${from})"`;
}

/** An input with everything that the fields of a command can say. */
function inputOf({ fields }: Command): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.to === "*") Object.assign(input, { namespace: "shop", name: "web" });
    else if (field.to) place(input, field.to, example(field));
  }
  return input;
}

/** The commands without what they do: names are not looked up, and what was typed is kept. */
function kept(typed: Given[]): Command[] {
  const plain = (field: Field): Field => {
    const { to: _to, ...rest } = field;
    if (PLACES.includes(field.from)) return { ...rest };
    return isReference(field.kind ?? "text") ? { ...field, kind: "text" } : field;
  };
  return COMMANDS.map((command) => ({
    ...command,
    fields: command.fields.map(plain),
    async run(_, given) {
      typed.push(given);
      return undefined;
    },
  }));
}

const CASES = COMMANDS.flatMap((command) =>
  command.operations.map((operation) => ({ command, operation, input: inputOf(command) })),
);
const lineOf = (operation: OperationName, input: object) => commandLine(operation, input as never);

describe("the line of a call", () => {
  test("[BC333] every operation that a command stands for has a command line, and the program takes it", async () => {
    const typed: Given[] = [];
    const on = machine({}, kept(typed));
    for (const { fields } of COMMANDS)
      for (const { from, kind } of fields) if (kind === "secret") on.files.set(`${from.slice(2)}.txt`, SECRET);
    const lines = CASES.map(({ operation, input }) => lineOf(operation, input) ?? `no line for ${operation}`);
    const words = splitByShell(lines);
    for (const [index, { command, input }] of CASES.entries()) {
      const [program, ...argv] = words[index] ?? [];
      const ran = await on.run(...argv);
      expect([program, ran.code, ran.err], lines[index]).toEqual(["binnacle", 0, ""]);
      for (const { from, to, kind = "text" } of command.fields) {
        if (!to || to === "*" || kind === "key" || PLACES.includes(from) || from.includes("...")) continue;
        const at = (value: unknown) => to.split(".").reduce<unknown>((inner, key) => Object(inner)[key], value);
        expect(at(typed.at(-1)?.input), `${lines[index]}: ${to}`).toEqual(at(input));
      }
    }
    expect(CASES.length).toBeGreaterThan(140);
  });

  test("[BC334] the command line of an operation contains no secret", () => {
    for (const { operation, input } of CASES) expect(lineOf(operation, input)).not.toContain(SECRET);
    const parameters = { password: SECRET, session_key: "…", host: "shop.example.com" };
    const input = { namespace: "n", name: "web", body: { project_id: "p", parameters } };
    expect(commandLine("deployStackTemplate", input)).toBe(
      "binnacle templates deploy n/web --project p --set password=… --set session_key=… --set host=shop.example.com",
    );
  });

  test.each<[OperationName, object, string | null]>([
    [
      "scaleApp",
      { namespace: "shop", name: "web", project_id: "p", body: { component_name: "api", replicas: 3 } },
      "binnacle apps scale shop/web 3 --component api",
    ],
    ["setUserDisabled", { id: "ada", body: { disabled: true } }, "binnacle users disable ada"],
    ["setUserDisabled", { id: "ada", body: { disabled: false } }, "binnacle users enable ada"],
    ["createOrg", { body: { name: "Acme & sons" } }, "binnacle orgs create 'Acme & sons'"],
    ["createOrg", { body: { name: "-rf" } }, "binnacle orgs create -- -rf"],
    ["createOrg", { body: {} }, "binnacle orgs create …"],
    ["deleteCredential", { id: "prod" }, "binnacle credentials delete prod"],
    [
      "updateApp",
      { namespace: "shop", name: "web", project_id: "p", body: { components: [] } },
      "binnacle apps deploy -f binnacle.yaml",
    ],
    [
      "createApp",
      { body: { name: "web", project_id: "shop", components: [] } },
      "binnacle apps deploy --project shop -f binnacle.yaml",
    ],
    [
      "startOperatorUpgrade",
      { org_id: "acme", body: { cluster_ids: ["eu, prod", "us"] } },
      "binnacle clusters upgrade-operator 'eu, prod' us --org acme",
    ],
    ["startOperatorUpgrade", { body: { batch_size: 5 } }, "binnacle clusters upgrade-operator --all --batch 5"],
    ["createStackTemplateFromYaml", { body: { create: true } }, "binnacle templates validate template.yaml --create"],
    ["startDeviceLogin", {}, "binnacle login"],
    [
      "updateProjectPolicy",
      { id: "shop", body: { isolation: "none", quota: { pods: 3 } } },
      "binnacle projects policy update shop --isolation none -f request.yaml",
    ],
    [
      "deleteComponentSecret",
      { namespace: "shop", name: "web", project_id: "p", component: "api", key: "TOKEN" },
      "binnacle apps secrets unset shop/web TOKEN --component api",
    ],
    [
      "updateComponentSecrets",
      { namespace: "shop", name: "web", project_id: "p", component: "api", body: { TOKEN: "x" } },
      "binnacle apps secrets set shop/web TOKEN --component api",
    ],
    [
      "updateComponentSecrets",
      { namespace: "shop", name: "web", project_id: "p", component: "api", body: { A: "x", B: "y" } },
      null,
    ],
    ["updateCluster", { id: "prod", body: { name: "live" } }, "binnacle clusters update prod --name live"],
    ["updateCluster", { id: "prod", body: { name: "live", description: null } }, null],
    [
      "updateProjectPolicy",
      { id: "shop", body: { isolation: "none", pod_security: null } },
      "binnacle projects policy update shop --isolation none -f request.yaml",
    ],
    ["bootstrapNode", {}, null],
    ["createOrg", { body: { name: "a", colour: "red" } }, null],
    ["getOrg", { id: "acme", colour: "red" }, null],
  ])("[BC333] the command line of %s with %j is %j", (operation, input, line) => {
    expect(lineOf(operation, input)).toBe(line);
  });

  test("[BC333] the table of command lines is generated from the commands as they are", () => {
    const file = readFileSync(new URL("generated/command-lines.json", import.meta.url), "utf8");
    expect(file, "npm run openapi writes it").toBe(lineTable(COMMANDS));
  });
});
