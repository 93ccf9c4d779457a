import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Command } from "../../packages/cli/src/command.ts";
import { COMMANDS, GROUPS } from "../../packages/cli/src/commands.ts";
import { pullProblem } from "../../packages/cli/src/pull-problem.ts";
import { HELM } from "../../packages/operator/src/chart/helm.fixture.ts";
import { blocksOf, commandsOf } from "../world/guide.ts";
import { HELD, type Held, WHOLE_PAGES } from "./guide-commands.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const CHART = "deploy/charts/binnacle";
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const pagesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${folder}/${file}`);
const GUIDES = ["README.md", ...["docs", "docs/concepts", "docs/install", "docs/operations"].flatMap(pagesIn)];

/** The command lines of a page: those of its blocks, joined where they continue, and what it names on the way. */
function linesOf(page: string): string[] {
  const text = read(page);
  const blocks = ["sh", "text"].flatMap((language) => blocksOf(text, language));
  const inline = text.replace(/^ *```.*?^ *```/gms, "").matchAll(/`([^`\n]+)`/g);
  return [
    ...blocks.flatMap((block) => block.replaceAll(/\\\n */g, "").split("\n")),
    ...[...inline].map(([, code = ""]) => code),
  ];
}

/** What follows the name of a program, up to the end of its command. */
const callsOf = (page: string, program: string): string[][] =>
  linesOf(page)
    .flatMap((line) => line.split(/ #|\||&&/))
    .flatMap((part) => [...part.matchAll(new RegExp(`(?:^|npx |\\()\\s*${program} (?!…)(.+)`, "g"))])
    .map(([, rest = ""]) => rest.split(/ (?:--|>) |\)"/)[0]?.match(/"[^"]*"|'[^']*'|[^\s)]+/g) ?? []);

const nameOf = ({ usage }: Command) => usage.split(/ [<[]/)[0] ?? "";
const EVERYWHERE = [
  "-o",
  "--org",
  "--project",
  "--cluster",
  "--context",
  "--url",
  "--color",
  "--debug",
  "-y",
  "--yes",
  "--help",
];

/** What the command line would not take of a call; null where it takes it. */
function problemOf(words: readonly string[]): string | null {
  const line = words.join(" ");
  const starts = (name: string) => `${line} `.startsWith(`${name} `);
  const command = COMMANDS.filter((one) => starts(nameOf(one))).sort((a, b) => nameOf(b).length - nameOf(a).length)[0];
  if (!command) return GROUPS.some(({ path }) => path === line) || line.startsWith("-") ? null : `no command: ${line}`;
  const known = [...EVERYWHERE, ...(command.takesFile ? ["-f"] : []), ...command.fields.map(({ from }) => from)].join(
    " ",
  );
  const options = words.map((word) => word.split("=")[0] ?? "").filter((word) => /^--?[a-z]/.test(word));
  // A secret is never an argument: `--value` is given as `--value-stdin` or `--value-file`.
  const isKnown = (option: string) =>
    known.split(/[\s,]+/).some((one) => [one, `${one}-stdin`, `${one}-file`].includes(option));
  const unknown = options.filter((option) => !isKnown(option));
  if (unknown.length) return `no option ${unknown.join(", ")}: ${line}`;
  return fits(command, words) ? null : `other arguments: ${line}`;
}

const WITH_VALUE = ["-o", "--org", "--project", "--cluster", "--context", "--url", "--color"];

/** Whether a call has as many arguments as the command takes. One without any only names the command. */
function fits(command: Command, words: readonly string[]): boolean {
  const taking = command.fields.filter(({ from, kind }) => from.includes(" <") || kind === "secret" || kind === "file");
  const withValue = new Set([
    ...WITH_VALUE,
    ...(command.takesFile ? ["-f", "--file"] : []),
    ...taking.flatMap(({ from }) => from.split(/[\s,]+/).flatMap((word) => [word, `${word}-file`])),
  ]);
  const given = words
    .slice(nameOf(command).split(" ").length)
    .filter((word, at, all) => !word.startsWith("-") && !withValue.has(all[at - 1] ?? "")).length;
  const args = command.usage.split(" ").filter((word) => /^[<[]/.test(word));
  const fewest = args.filter((word) => word.startsWith("<")).length;
  // An option with several values may take some of those that follow it.
  const isOpen = [...args, ...command.fields.map(({ from }) => from)].some((word) => word.includes("..."));
  const most = isOpen ? Number.POSITIVE_INFINITY : args.length;
  return given === 0 || (given >= fewest && given <= most);
}

test.each(GUIDES)("[SP3110] the commands and options of binnacle that %s names exist", (page) => {
  const calls = callsOf(page, "binnacle");
  const aliases = calls.flatMap(([noun, action, name]) => (noun === "alias" && action === "set" ? [name] : []));
  const ofCommands = calls.filter(([first]) => !aliases.includes(first));
  expect(ofCommands.map(problemOf).filter(Boolean)).toEqual([]);
});

/** The commands that the console writes out because no operation stands for them. What a page fills in is `x`. */
function commandsOfConsole(): string[] {
  const folder = "packages/console/src";
  const sources = globSync("**/*.{ts,tsx}", { cwd: join(ROOT, folder) }).filter((file) => !file.includes(".test."));
  return sources.flatMap((file) => {
    let text = read(join(folder, file));
    for (let before = ""; before !== text; ) [before, text] = [text, text.replace(/\$\{[^{}]*\}/g, "x")];
    return [...text.matchAll(/(?:["`>]|&& )binnacle ([a-z][^"`<&]*)/g)].map(([, line = ""]) => line.trim());
  });
}

test("[WC820] the console writes out only the commands that no operation stands for, and their options exist", () => {
  const lines = commandsOfConsole();
  expect(lines).toEqual(["apps init --image x --name xx"]);
  expect(lines.map((line) => problemOf(line.split(" "))).filter(Boolean)).toEqual([]);
});

test("[SP3110] the commands of binnacle-server that the guides and the preflight name exist", () => {
  const { bin } = JSON.parse(read("packages/server/package.json"));
  // As `npx` starts it: by its first line.
  const help = execFileSync(join(ROOT, "packages/server", bin["binnacle-server"]), ["help"], { encoding: "utf8" });
  const known = [...help.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name);
  const printed = pullProblem("registry.example.com/binnacle/operator:0.1.0", "manifest unknown").ways.join("\n");
  const ofPreflight = [...printed.matchAll(/npx binnacle-server ([\w-]+)/g)].map(([, name]) => name);
  expect(ofPreflight).toEqual(["images", "images", "images"]);
  expect(printed.match(/(?<!npx )binnacle-server/g)).toBeNull();
  const named = [...ofPreflight, ...GUIDES.flatMap((page) => callsOf(page, "binnacle-server").map(([name]) => name))];
  expect(named).toContain("backup");
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

/** What the sources of a program say of an option, be it in its help or among those that it parses. */
const parses = (source: string, option: string) => {
  const name = option.replace(/^-+/, "");
  return new RegExp(`--${name}\\b|["']?\\b${name}["']?: \\{`).test(source);
};
const optionsOf = (words: readonly string[]) =>
  words.map((word) => word.split("=")[0] ?? "").filter((word) => word.startsWith("--") && word !== "--");

test.each(GUIDES)("[SP3110] the options of binnacle-server and of npm's scripts that %s names exist", (page) => {
  const program = read("packages/server/src/binnacle-server.command.ts");
  const ofServer = callsOf(page, "binnacle-server").flatMap(([name = "", ...words]) => {
    const file = new RegExp(`\\b${name}"?: \\{.*?import\\("\\./([^"]+)"\\)`, "s").exec(program)?.[1];
    const source = file === undefined ? "" : read(`packages/server/src/${file}`) + program;
    return optionsOf(words).filter((option) => !parses(source, option));
  });
  const scripts: Readonly<Record<string, string>> = JSON.parse(read("package.json")).scripts;
  const ofScripts = linesOf(page).flatMap((line) => {
    const [, name = "", rest = ""] = /npm run ([\w:-]+) -- ([^#|&)]*)/.exec(line) ?? [];
    const file = /node ([\w./-]+\.ts)/.exec(scripts[name] ?? "")?.[1];
    return file ? optionsOf(rest.split(" ")).filter((option) => !parses(read(file), option)) : [];
  });
  expect([...ofServer, ...ofScripts]).toEqual([]);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}
const schemaOf = (chart: string): Schema => JSON.parse(read(`${chart}/values.schema.json`));
/** Whether a chart has the value. Of a list it is the list. */
function isValue(path: string, schema: Schema): boolean {
  let at: Schema | undefined = schema;
  for (const name of (path.split("[")[0] ?? "").split(".")) {
    if (at && !at.properties) return at.additionalProperties !== false;
    at = at?.properties?.[name];
  }
  return at !== undefined;
}
const PAGES_OF_CHART = [`${CHART}/README.md`, "docs/install/kubernetes.md", "docs/install/air-gapped.md"];
const installsOf = (page: string) =>
  callsOf(page, "helm").filter(([verb, ...words]) => verb === "install" && words.includes("--set"));

const OPERATOR_CHART = "deploy/charts/binnacle-operator";
/** The values that a line sets, for the chart that it names, or for either where it names none. */
function unknownValues(line: string): string[] {
  const charts = line.includes("binnacle-operator")
    ? [OPERATOR_CHART]
    : line.includes(CHART)
      ? [CHART]
      : [CHART, OPERATOR_CHART];
  const set = [...line.matchAll(/--set(?:-string|-json|-file)?[ =]['"]?([\w.-]+(?:\[\d+\][\w.]*)?)=?/g)].map(
    ([, path = ""]) => path,
  );
  return set.filter((path) => !charts.some((chart) => isValue(path, schemaOf(chart))));
}

test.each([...GUIDES, `${CHART}/README.md`, `${OPERATOR_CHART}/README.md`])(
  "[SP3110] the values that %s sets for a chart exist",
  (page) => {
    expect(linesOf(page).flatMap(unknownValues)).toEqual([]);
  },
);

test("[SP3110] a value, an option and an argument that do not exist are found in a guide", () => {
  expect(unknownValues(`helm install binnacle ${CHART} --set ingress.enabled=true --set ingress.enable=true`)).toEqual([
    "ingress.enable",
  ]);
  expect(PAGES_OF_CHART.map((page) => installsOf(page).length)).not.toContain(0);
  expect(problemOf(["apps", "scale", "shop/web", "3"])).toBeNull();
  expect(problemOf(["apps", "scale", "shop/web"])).toContain("other arguments");
  expect(problemOf(["apps", "scale", "shop/web", "3", "4"])).toContain("other arguments");
  expect(problemOf(["apps", "scale", "--by", "3"])).toContain("no option --by");
  expect(parses('options: { keep: { type: "string" } }', "--keep")).toBe(true);
  expect(parses('options: { keep: { type: "string" } }', "--kept")).toBe(false);
});

test.skipIf(HELM === null).each(PAGES_OF_CHART)("[SP3110] Helm renders what %s installs", (page) => {
  for (const [, name = "", , ...flags] of installsOf(page)) {
    const rendered = execFileSync(HELM ?? "", ["template", name, CHART, ...flags], {
      cwd: ROOT,
      stdio: "pipe",
    }).toString();
    expect(rendered).toContain("kind: Deployment");
  }
});

/** The entry of a command, by the longest beginning that it has. */
const heldOf = (page: string, command: string): [start: string, held: Held] | undefined =>
  Object.entries(HELD[page] ?? {})
    .filter(([start]) => command.startsWith(start))
    .sort(([one], [other]) => other.length - one.length)[0];

test.each(GUIDES.filter((page) => commandsOf(page).length > 0))(
  "[SP3115] each command in a block of %s has a test that runs it, or a reason why none does",
  (page) => {
    const commands = WHOLE_PAGES[page] ? [] : commandsOf(page);
    expect(commands.filter((command) => !heldOf(page, command))).toEqual([]);
    const used = new Set(commands.map((command) => heldOf(page, command)?.[0]));
    expect(Object.keys(HELD[page] ?? {}).filter((start) => !used.has(start))).toEqual([]);
  },
);

test("[SP3115] the tests that run whole pages or single commands of them name the page, and all others exist", () => {
  const running = [
    ...Object.entries(WHOLE_PAGES),
    ...Object.entries(HELD).flatMap(([page, entries]) =>
      Object.values(entries).flatMap((held) => ("ran" in held ? [[page, held.ran] as const] : [])),
    ),
  ].filter(([, file]) => file !== ".ci/run");
  // The guide for one machine is read in one place for all.
  const names = (file: string, page: string) =>
    read(file).includes(page) || (page.endsWith("one-machine.md") && read(file).includes("rules/one-machine.ts"));
  expect(running.filter(([page, file]) => !names(file, page))).toEqual([]);
  const alike = Object.values(HELD).flatMap((entries) =>
    Object.values(entries).flatMap((held) => ("alike" in held ? [held.alike] : [])),
  );
  expect(alike.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
