import type { Sending } from "@binnacle/world";

/** The resources to which an editor of one project can send requests. */
export interface Target {
  readonly org: string;
  readonly project: string;
  readonly namespace: string;
  readonly cluster: string;
  readonly userId: string;
  /** The path of an app of the project, and the query that goes with it. */
  readonly appPath: string;
  readonly appQuery: string;
  /** The name of a template of the project with the parameter `text`, which has a pattern. */
  readonly template: string;
  readonly addonDefinition: string;
}

export interface HostileBody {
  readonly what: string;
  readonly method: "POST" | "PUT" | "PATCH";
  readonly path: (target: Target) => string;
  readonly sending: (target: Target) => Sending;
}

const KIB = 1024;
const MOST = 1000 * KIB;
/** Somewhat fewer values than a body may hold, so that what comes after that limit is reached too. */
const MANY = 48_000;

const json = (text: string): Sending => ({ raw: text, headers: { "content-type": "application/json" } });
const object = (value: unknown): Sending => json(JSON.stringify(value));
const fillTo = (size: number, text: string) => text.repeat(Math.floor(size / text.length));
/** The text as often as a body of the largest size has room for it. */
const fill = (text: string) => fillTo(MOST - KIB, text);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const listOf = (count: number, item: string) => `[${times(count, () => item).join(",")}]`;
const mapOf = (count: number, value: unknown) => Object.fromEntries(times(count, (at) => [`k${at}`, value]));

/** Written by hand: the platform's own writer refuses to write hostile ones. */
function multipart(parts: readonly (readonly [name: string, text: string])[]): Sending {
  const bound = "between-parts";
  const text = parts.map(
    ([name, value]) => `--${bound}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    raw: `${text.join("")}--${bound}--\r\n`,
    headers: { "content-type": `multipart/form-data; boundary=${bound}` },
  };
}
const yaml = (text: () => string) => () => multipart([["yaml_content", text()]]);

const to = (method: HostileBody["method"], path: string | HostileBody["path"]) => {
  const pathOf = typeof path === "string" ? () => path : path;
  return (what: string, sending: HostileBody["sending"]): HostileBody => ({ what, method, path: pathOf, sending });
};
const newOrg = to("POST", "/orgs");
const newUser = to("POST", "/user");
const newProject = to("POST", "/projects");
const newApp = to("POST", "/apps");
const newTemplate = to("POST", "/stack-templates");
const fromYaml = to("POST", "/stack-templates/from-yaml");
const newAddon = to("POST", "/addon-instances");
const settings = to("PATCH", ({ org }) => `/org/settings?org_id=${org}`);
const deploy = to("POST", ({ namespace, template }) => `/stack-templates/${namespace}/${template}/deploy`);

const app = (components: () => unknown) => (target: Target) =>
  object({ name: "hostile", project_id: target.project, components: components() });
const workload = (at: number, spec: object = {}) => ({ name: `c${at}`, workload_spec: { image: "a", ...spec } });
const template =
  (content: () => { readonly components: unknown; readonly parameters?: unknown }) =>
  ({ namespace, org }: Target) =>
    object({ name: "hostile", namespace, scope: "project", org_id: org, ...content() });
/** Of which parameters alone matter. */
const declaring = (parameter: (at: number) => object) =>
  template(() => ({
    components: [workload(0)],
    parameters: times(100, (at) => ({ name: `p${at}`, type: "string", ...parameter(at) })),
  }));
const addon = (values: () => unknown) => (target: Target) =>
  object({
    name: "hostile",
    project_id: target.project,
    addon_definition_id: target.addonDefinition,
    values: values(),
  });

/** Requests of up to a megabyte, each made to keep the server busy. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  // Text that is held against a pattern.
  newOrg("a long name with a line break at its end", () => object({ name: `${"a".repeat(64_000)}\n` })),
  newOrg("a name of a megabyte", () => object({ name: `${fill("a")}\n` })),
  newOrg("a name of blanks", () => object({ name: `${fill(" ")}\n` })),
  newUser("an email address of a megabyte", () => object({ email: `a@${fill("a.")}`, name: "a", username: "a" })),
  newProject("a label of a megabyte", ({ cluster }) => object({ name: `${fill("a-")}!`, cluster_id: cluster })),
  newProject("a UUID of a megabyte", () => object({ name: "a", cluster_id: fill("0-") })),
  to("PATCH", ({ userId }) => `/user/${userId}`)("an address of a megabyte", () =>
    object({ profile_image_url: `https://${fill("a:")}` }),
  ),
  to("POST", ({ project }) => `/projects/${project}/registry-secrets`)("a registry of a megabyte", () =>
    object({ name: "a", server_url: `https://${fill("a.")}\n`, username: "a", password: "a" }),
  ),
  newApp(
    "a schedule of a megabyte",
    app(() => [workload(0, { kind: "cronjob", schedule: `${fill("* ")}\n` })]),
  ),
  newApp(
    "a host of a megabyte",
    app(() => [workload(0, { ingress: { host: `${fill("a.")}!` } })]),
  ),
  // Shapes.
  newOrg("half a million integers", () => json(listOf(500_000, "1"))),
  newOrg("many integers for a name", () => json(`{"name":${listOf(MANY, "1")}}`)),
  newOrg("many unknown fields", () => object(mapOf(MANY, 0))),
  newOrg("an unknown field with a long name", () => object({ [fill("a")]: 1, name: 1 })),
  newOrg("lists nested very deeply", () => json(`${"[".repeat(500_000)}${"]".repeat(500_000)}`)),
  newOrg("objects nested very deeply", () => json(`${'{"a":'.repeat(160_000)}1${"}".repeat(160_000)}`)),
  newOrg("JSON that breaks off", () => json(`{"name":"${fill("\\\\")}`)),
  newOrg("a prototype among many keys", () => json(`{${'"a":0,'.repeat(MANY)}"__proto__":1}`)),
  newOrg("NUL characters everywhere", () => json(listOf(MANY, '"\\u0000"'))),
  settings("NUL characters in free text", () => object({ settings: mapOf(20_000, "\0") })),
  settings("halves of surrogate pairs", () => json(`{"settings":{"a":${listOf(MANY, '"\\ud800"')}}}`)),
  settings("wide levels", () => object({ settings: wide(60, MANY) })),
  newApp("integers instead of components", () => json(`{"name":"a","components":${listOf(MANY, "1")}}`)),
  newApp("empty components", ({ project }) =>
    json(`{"name":"a","project_id":"${project}","components":${listOf(MANY / 2, "{}")}}`),
  ),
  newApp(
    "unknown fields in every component",
    app(() => times(100, () => mapOf(MANY / 100 - 1, 0))),
  ),
  // Work behind the form.
  newApp(
    "variables that are all wrong",
    app(() => times(100, (at) => workload(at, { env: times(MANY / 200 - 5, () => ({ name: 1 })) }))),
  ),
  newApp(
    "variables that have one name",
    app(() => times(30, (at) => workload(at, { env: times(500, () => ({ name: "A", value: "" })) }))),
  ),
  newApp(
    "components that all need each other",
    app(() => times(100, (at) => ({ ...workload(at), depends_on: times(100, (other) => `c${other}`) }))),
  ),
  newApp(
    "components that all take from each other",
    app(() =>
      times(100, (at) =>
        workload(at, { env: times(90, (other) => ({ name: `A${other}`, export_ref: exportOf((other + at) % 100) })) }),
      ),
    ),
  ),
  newApp(
    "as many secrets as an app may have",
    app(() => times(100, (at) => ({ ...workload(at), secrets: mapOf(200, "") }))),
  ),
  to("PATCH", ({ appPath, appQuery }) => appPath + appQuery)("as many changes as fit", () =>
    object({ components: times(10_000, (at) => ({ op: "patch", name: `c${at}`, workload_spec: null })) }),
  ),
  to("PATCH", ({ appPath, appQuery }) => `${appPath}/components/web/secrets${appQuery}`)("a secret's long key", () =>
    object({ [fill("A")]: "a" }),
  ),
  newAddon(
    "values of an addon that are long lists",
    addon(() => ({ image: times(MANY / 2, Number), auth: times(20_000, Number) })),
  ),
  newAddon(
    "values of an addon that are all unknown",
    addon(() => mapOf(1000, mapOf(40, 0))),
  ),
  // Templates.
  newTemplate(
    "placeholders that never end",
    template(() => ({
      components: times(15, (at) => workload(at, { command: ["${".repeat(16_000), "${".repeat(16_000)] })),
    })),
  ),
  newTemplate(
    "invalid placeholders",
    template(() => ({
      components: times(100, (at) => workload(at, { command: [times(900, (name) => `\${${name}}`).join("")] })),
    })),
  ),
  newTemplate(
    "patterns that grow large",
    declaring((at) => ({ pattern: `${"(a?){1000}".repeat(45)}${at}` })),
  ),
  newTemplate(
    "patterns of all characters that there are",
    declaring((at) => ({ pattern: `${"[\\p{L}\\P{L}\\p{Lu}]".repeat(25)}${at}` })),
  ),
  newTemplate(
    "patterns that are slow to test",
    declaring((at) => ({ pattern: `${"(.*a){30}".repeat(3)}${at}`, default: "ab".repeat(2048) })),
  ),
  deploy("a value that is slow to test", ({ project }) =>
    object({ project_id: project, parameters: { text: `${"a".repeat(4095)}!` } }),
  ),
  deploy("parameters that nobody asked for", ({ project }) =>
    object({ project_id: project, parameters: mapOf(MANY, 1) }),
  ),
  // Forms and YAML.
  fromYaml(
    "YAML of nested lists",
    yaml(() => "[".repeat(60_000)),
  ),
  fromYaml(
    "YAML of one key after the other",
    yaml(() => fillTo(128 * KIB, "a:\n")),
  ),
  fromYaml(
    "YAML of quotes",
    yaml(() => fillTo(128 * KIB, "'\n")),
  ),
  fromYaml(
    "YAML of comments",
    yaml(() => fillTo(128 * KIB, "#\n")),
  ),
  fromYaml(
    "YAML of explicit keys",
    yaml(() => fillTo(128 * KIB, "? ")),
  ),
  fromYaml(
    "YAML of aliases",
    yaml(() => aliases()),
  ),
  fromYaml(
    "YAML of blanks and tabs",
    yaml(() => `a:${fillTo(120 * KIB, " \t\n")}- b`),
  ),
  fromYaml(
    "YAML of a megabyte",
    yaml(() => fill("a: b\n")),
  ),
  fromYaml("a form of many parts", () => multipart(times(12_000, (at) => [`p${at}`, ""]))),
  fromYaml("a form of many bounds", () => multipart([["file", fill("\r\n--between-parts")]])),
  // Requests without authentication.
  to("POST", "/login")("a login of many fields", () => ({
    raw: times(2000, (at) => `f${at}=1`).join("&"),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })),
  to("POST", "/login")("a login of a megabyte", () => ({ form: { username: fill("a"), password: "a" } })),
  to("POST", "/auth/cli/device")("many scopes", () => object({ requested_scopes: times(7000, () => 1) })),
  to("POST", "/auth/cli/device/token")("a long code", () => object({ device_code: "a".repeat(16_000) })),
];

const exportOf = (at: number) => ({ component: `c${at}`, key: "k" });

function wide(depth: number, count: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level++) value = { a: value, b: times(Math.floor(count / depth) - 2, () => 0) };
  return value;
}

function aliases(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"];
  for (let at = 1; at < 40; at++) lines.push(`a${at}: &a${at} [${times(8, () => `*a${at - 1}`).join(", ")}]`);
  return lines.join("\n");
}
