import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AppComponent, Cluster } from "@binnacle/client";
import { appManifestSchema, CLOUD_PROVIDERS } from "@binnacle/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { arg, verb } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { masked } from "./failure.ts";
import PROVIDERS_FILE from "./generated/cloud-providers.json" with { type: "json" };
import { machine } from "./host.fixture.ts";
import { EXIT, MEANINGS } from "./host.ts";
import { exported, starter } from "./manifest.ts";
import { column, view } from "./output.ts";
import { cleanUrl, NO_STATE, parseState, renamed, targetOf, withContext, withoutContext } from "./state.ts";

const PACKAGES = new URL("../../", import.meta.url).pathname;

/** Operations that no command calls, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  bootstrapNode: "New machines call it, with a token that nobody else has.",
  reportNode: "New machines call it, with a token that nobody else has.",
  getInstallCommand: "It is removed and answers every caller with 410.",
  streamAppLogs: "Logs are read by component, so that an app may have several workloads.",
};

describe("the commands", () => {
  test("[BC7] the commands reach every operation of the contract, except those that are named with a reason", () => {
    const table = readFileSync(join(PACKAGES, "client/src/generated/operations.ts"), "utf8");
    const operations = [...table.matchAll(/^ {2}(\w+): "/gm)].map(([, name = ""]) => name);
    expect(operations.length).toBeGreaterThan(100);
    const used = new Set(COMMANDS.flatMap(({ operations, also = [] }): readonly string[] => [...operations, ...also]));
    expect(operations.filter((name) => !used.has(name) && !(name in EXCEPTIONS))).toEqual([]);
    expect(Object.keys(EXCEPTIONS).filter((name) => used.has(name) || !operations.includes(name))).toEqual([]);
    expect([...used].filter((name) => !operations.includes(name))).toEqual([]);
  });

  test("[BC336] a command does not compile with a parameter, a column or an operation that the API does not have", () => {
    const usage = "apps scale <app> <count>";
    const scale = verb("scaleApp", usage, "", { fields: [arg("<count>", "body.replicas", "integer")] });
    // @ts-expect-error the body has no such field
    const wrongField = verb("scaleApp", usage, "", { fields: [arg("<count>", "body.count", "integer")] });
    // @ts-expect-error the operation has no such parameter
    const wrongParameter = verb("getApp", usage, "", { fields: [arg("<count>", "count")] });
    // @ts-expect-error a cluster has no such field
    const wrongColumn = view<Cluster>("name", column("COLOUR", "colour"));
    // @ts-expect-error the view is of something else
    const wrongView = verb("getApp", usage, "", { view: view<Cluster>("name", column("NODES", "node_count")) });
    // @ts-expect-error there is no such operation
    const wrongOperation = verb("growApp", usage, "");
    expect([scale, wrongField, wrongParameter, wrongColumn, wrongView, wrongOperation]).toHaveLength(6);
  });

  test("[BC7] no two commands have the same name", () => {
    const names = COMMANDS.map(({ usage }) => usage.replace(/ [<[].*$/, ""));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("[BC3] commands take no password, token or secret from the command line", () => {
    const risky = COMMANDS.flatMap(({ usage, fields }) =>
      fields
        .filter(
          ({ from, to = "", kind }) =>
            !["secret", "flag", "project-registry-secret", "cluster-registry-secret"].includes(kind ?? "text") &&
            /password|secret_|private|body\.token|body\.value/.test(to) &&
            from !== "",
        )
        .map(({ from }) => `${usage} ${from}`),
    );
    expect(risky).toEqual([]);
    expect(COMMANDS.flatMap(({ fields }) => fields).filter(({ kind }) => kind === "secret").length).toBeGreaterThan(5);
  });

  test.each(["createCredential", "updateCredential"] as const)(
    "[BC1637] the command of %s has an option for each field of each provider, and reads the secret ones",
    (operation) => {
      expect(PROVIDERS_FILE, "npm run openapi writes it").toEqual(CLOUD_PROVIDERS);
      const { fields = [] } = COMMANDS.find(({ operations }) => operations.includes(operation)) ?? {};
      for (const { name, secret } of CLOUD_PROVIDERS.flatMap((provider) => provider.fields))
        expect(fields.find(({ to }) => to === `body.${name}`)?.kind === "secret", name).toBe(secret);
    },
  );

  test("[BC1637] --debug masks every secret field of a credential, whatever its name is", () => {
    const secrets = CLOUD_PROVIDERS.flatMap(({ fields }) => fields.filter(({ secret }) => secret));
    const given = Object.fromEntries(secrets.map(({ name }) => [name, "hush"]));
    expect(Object.values(masked(given) as object)).toEqual(secrets.map(() => "***"));
  });

  test.each([
    [["aps"], "error: unknown command 'aps'\nfix: did you mean one of api, apps?\n"],
    [["apps", "lst"], "error: unknown command 'lst'\nfix: did you mean list?\n"],
    [["clusters", "rbac", "gant"], "error: unknown command 'gant'\nfix: did you mean grant?\n"],
    [["apps", "list", "--limt", "3"], "error: unknown option '--limt'\nfix: did you mean --limit?\n"],
    [
      ["clusters", "rbac", "list", "x", "--outptu", "json"],
      "error: unknown option '--outptu'\nfix: did you mean --output?\n",
    ],
    [["rolback", "x"], "error: unknown command 'rolback'\nfix: did you mean one of apps rollback, addons rollback?\n"],
    [["history"], "error: unknown command 'history'\nfix: did you mean one of apps history, addons history?\n"],
    [["login", "--password", "x"], "error: unknown option '--password'\nfix: did you mean --password-stdin?\n"],
    [["apps", "show"], "error: missing required argument 'app'\n"],
    [["version", "extra"], "error: too many arguments for 'version'. Expected 0 arguments but got 1.\n"],
    [
      ["version", "-o", "xml"],
      'error: "xml" is not an output format. Use table|wide|json|yaml|name|jsonpath=<path>.\n',
    ],
  ])("[BC16] [BC2911] the call %j is answered with what was meant, and exit code 2", async (argv, err) => {
    expect(await machine().run(...argv)).toEqual({ code: 2, out: "", err });
  });

  test("[BC12] commands print help that was asked for on stdout, and help instead of a command on stderr", async () => {
    const asked = await machine().run("apps", "--help");
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toMatch(/deploy \[options\] +Create or change the apps of a file/);
    expect(await machine().run("apps")).toMatchObject({ code: 2, out: "" });
  });

  test("[BC335] the table of exit codes is the same in the program, in the help and in the guide", async () => {
    const table = Object.entries(EXIT).map(([name, code]) => [code, MEANINGS[name as keyof typeof EXIT]] as const);
    expect(new Set(table.map(([code]) => code)).size).toBe(table.length);
    const guide = readFileSync(join(PACKAGES, "../docs/cli.md"), "utf8").split("## Exit codes")[1] ?? "";
    const { out } = await machine().run("--help");
    const inHelp = [...out.matchAll(/^ {2}(\d+) +(.*)$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
    const inGuide = [...guide.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
    expect([inHelp, inGuide]).toEqual([table, table]);
  });

  test.each([
    [["apps", "deploy", "--dry-rn"], 2],
    [["apps", "deploy", "--dry-run", "-f", "absent.yaml"], 2],
    [["apps", "deploy", "--dry-run", "-f", "wrong.yaml"], 2],
  ])("[BC335] the call %j does not end with the exit code for differences", async (argv, code) => {
    const on = machine();
    on.files.set("wrong.yaml", "name: [");
    expect((await on.run(...argv)).code).toBe(code);
  });

  test("[BC11] commands colour their output on a terminal only, unless told otherwise", async () => {
    const on = machine();
    on.isTerminal = true;
    const isColoured = async (...argv: string[]) => (await on.run("version", ...argv)).out.includes("\u001b[");
    expect([await isColoured(), await isColoured("--color", "never")]).toEqual([true, false]);
    on.env = { NO_COLOR: "1" };
    expect([await isColoured(), await isColoured("--color", "always")]).toEqual([false, true]);
    expect((await machine().run("version")).out).not.toContain("\u001b[");
  });

  test("[BC11] commands decide on colours separately for stdout and stderr", async () => {
    const on = machine();
    on.isTerminal = true;
    on.files.set("binnacle.yaml", "name: a\ncomponents: []\n");
    on.env = {
      BINNACLE_URL: "https://b.example.com",
      BINNACLE_TOKEN: "t",
      BINNACLE_PROJECT: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    };
    on.fetch = async (input, init) =>
      (input as string).includes("/projects/")
        ? new Response('{"namespace":"shop"}', { headers: { "content-type": "application/json" } })
        : init?.method === "POST"
          ? new Response('{"warnings":[]}', { status: 201, headers: { "content-type": "application/json" } })
          : new Response('{"detail":"App not found."}', {
              status: 404,
              headers: { "content-type": "application/json" },
            });
    on.isErrTerminal = false;
    on.answers = [false];
    const ran = await on.run("apps", "deploy", "--no-wait");
    expect(ran.err).toContain("shop/a would be created\n");
    expect((await on.run("apps", "deploy", "--dry-run")).out).toContain("\u001b[1mshop/a would be created");
  });

  const answer = (status: number, body: object) =>
    new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
  const reaching = (fetch: (path: string) => Response) => {
    const on = machine();
    on.env = { BINNACLE_URL: "https://b.example.com", BINNACLE_TOKEN: "t" };
    on.fetch = async (input) => fetch(new URL(input as string).pathname);
    return on;
  };

  test("[BC433] commands say that the token may not read the version, where that is the case", async () => {
    const detail = "The token lacks the scope bundles:read.";
    const { err } = await reaching(() => answer(403, { detail })).run("version");
    expect(err).toBe(`The control plane refuses to tell its version: ${detail}\n`);
  });

  test("[BC434] commands say of an app that was refused neither that it is created nor that it is changed", async () => {
    const project = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
    const items = [{ loc: ["body", "name"], msg: "Not a name", type: "string_pattern_mismatch" }];
    const on = reaching((path) => {
      if (path.includes("/projects/")) return answer(200, { namespace: "shop" });
      return path.endsWith("/apps") ? answer(422, { detail: items }) : answer(404, { detail: "App not found." });
    });
    on.files.set("binnacle.yaml", "name: Bad_Name\ncomponents: []\n");
    const { code, err } = await on.run("apps", "deploy", "--project", project);
    expect(code).not.toBe(0);
    expect(err).toContain("Not a name");
    expect(err).not.toMatch(/is (created|changed)/);
  });

  test("[BC435] propose a cluster that is connected where several could be meant", async () => {
    const clusters = ["pending", "connected"].map((status) => ({ id: status, name: `a-${status}-one`, status }));
    const page = (data: object[]) =>
      answer(200, { data, total_count: data.length, has_more: false, next_cursor: null });
    const on = reaching((path) =>
      page(path.endsWith("/clusters") ? clusters : [{ id: "o", name: "demo", slug: "demo" }]),
    );
    expect((await on.run("projects", "create", "shop")).err).toContain("fix: add --cluster a-connected-one\n");
  });

  test("[BC436] ask once whether the address is that of a control plane", async () => {
    const { err } = await reaching(() => new Response("<html>", { status: 200 })).run("version");
    expect(err).toBe("error: The answer is not JSON. Is this the address of a control plane?\n");
  });
});

describe("contexts", () => {
  const one = withContext(NO_STATE, "one", { url: "https://one.example.com", token: "bnc_1", org: "acme" });

  test("[BC6] the environment goes before a context, and a context's credential goes to its own address only", () => {
    expect(targetOf(one, {}, {})).toMatchObject({
      url: "https://one.example.com",
      name: "one",
      credential: { token: "bnc_1" },
      org: "acme",
    });
    expect(targetOf(one, {}, { BINNACLE_URL: "https://evil.example.com" })).toMatchObject({
      credential: null,
      org: null,
    });
    expect(targetOf(one, { url: "https://one.example.com:8443" }, {})).toMatchObject({ credential: null });
    const env = {
      BINNACLE_URL: "https://two.example.com/",
      BINNACLE_TOKEN: "bnc_2",
      BINNACLE_ORG: "b",
      BINNACLE_PROJECT: "p",
    };
    expect(targetOf(one, {}, env)).toEqual({
      url: "https://two.example.com",
      name: null,
      credential: { token: "bnc_2" },
      org: "b",
      project: "p",
    });
    expect(() => targetOf(NO_STATE, {}, {})).toThrow("You are not signed in to a control plane.");
    expect(() => targetOf(one, { context: "nope" }, {})).toThrow('There is no context "nope". There are: one.');
  });

  test("[BC1] contexts are renamed and deleted, and the error about a damaged file does not contain its text", () => {
    expect(renamed(one, "one", "prod")).toMatchObject({ current: "prod", contexts: { prod: { org: "acme" } } });
    expect(() => renamed(withContext(one, "two", { url: "https://two.example.com" }), "one", "two")).toThrow(
      'There is a context "two" already.',
    );
    expect(withoutContext(one, "one")).toEqual(NO_STATE);
    expect(() => parseState('{"contexts": "bnc_hush')).toThrow(/^The file with the contexts is damaged\.$/);
  });

  test.each([
    ["https://b.example.com/", "https://b.example.com"],
    ["b.example.com", "https://b.example.com"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["localhost:8080", "http://localhost:8080"],
    ["localhost", "http://localhost"],
    ["[::1]:8080/base", "http://[::1]:8080/base"],
    ["localhost.example.com", "https://localhost.example.com"],
    ["127.evil.example", "https://127.evil.example"],
    ["127.0.0.1.evil.example:8080", "https://127.0.0.1.evil.example:8080"],
    ["http://127.0.0.1:8080/api/v1", "http://127.0.0.1:8080"],
    ["https://b.example.com/base", "https://b.example.com/base"],
  ])("[BC1] a context takes the address %s", (text, url) => {
    expect(cleanUrl(text)).toBe(url);
  });

  test.each(["ftp://b", "https://ada:hush@b", "https://b/?token=hush", "https://b/#x", ""])(
    "[BC1] a context refuses the address %j",
    (text) => {
      expect(() => cleanUrl(text)).toThrow(/^The address must look like/);
    },
  );
});

describe("the schema of binnacle.yaml", () => {
  const file = JSON.parse(readFileSync(join(PACKAGES, "manifest/binnacle.schema.json"), "utf8"));

  test("[BC25] the schema of binnacle.yaml in the repository is that of the contract", () => {
    expect(file, "npm run openapi writes it").toEqual(appManifestSchema());
  });

  test("[BC25] the schema accepts what `init` and `export` write, and refuses the templates of the catalog", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(file);
    const isValid = (text: string) => validate(parse(text)) || validate.errors;
    expect(isValid(starter("front", "nginx:1.29", 80, "shop", "https://b.example.com"))).toBe(true);
    const component: AppComponent = {
      name: "web",
      type: "workload",
      workload_spec: { image: "nginx" },
      secrets: [],
      ready_replicas: 1,
    };
    expect(
      isValid(exported({ name: "front", description: null, components: [component] }, "shop", "https://b.example.com")),
    ).toBe(true);
    expect(
      validate({ name: "front", components: [{ name: "web", workload_spec: { image: "nginx", replica: 2 } }] }),
    ).toBe(false);
    for (const name of readdirSync(join(PACKAGES, "../catalog/templates"))) {
      expect(validate(parse(readFileSync(join(PACKAGES, "../catalog/templates", name), "utf8"))), name).toBe(false);
    }
  });
});
