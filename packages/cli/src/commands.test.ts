import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { appManifestSchema } from "@binnacle/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { COMMANDS } from "./commands.ts";
import { candidates } from "./completion.ts";
import { machine } from "./host.fixture.ts";
import { exported, starter } from "./manifest.ts";
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
  test("[BC7] reach every operation of the contract, or it is named why not", () => {
    const table = readFileSync(join(PACKAGES, "client/src/generated/operations.ts"), "utf8");
    const operations = [...table.matchAll(/^ {2}(\w+): "/gm)].map(([, name = ""]) => name);
    expect(operations.length).toBeGreaterThan(100);
    const used = new Set(COMMANDS.flatMap(({ uses }) => uses as readonly string[]));
    expect(operations.filter((name) => !used.has(name) && !(name in EXCEPTIONS))).toEqual([]);
    expect(Object.keys(EXCEPTIONS).filter((name) => used.has(name) || !operations.includes(name))).toEqual([]);
    expect([...used].filter((name) => !operations.includes(name))).toEqual([]);
  });

  test("[BC7] have names of their own", () => {
    const names = COMMANDS.map(({ usage }) => usage.replace(/ [<[].*$/, ""));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("[BC3] take no password, token or secret from the command line", () => {
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

  test.each([
    [["aps"], "error: unknown command 'aps'\nfix: did you mean apps?\n"],
    [["apps", "lst"], "error: unknown command 'lst'\nfix: did you mean list?\n"],
    [["clusters", "rbac", "gant"], "error: unknown command 'gant'\nfix: did you mean grant?\n"],
    [["apps", "list", "--limt", "3"], "error: unknown option '--limt'\nfix: did you mean --limit?\n"],
    [
      ["clusters", "rbac", "list", "x", "--outptu", "json"],
      "error: unknown option '--outptu'\nfix: did you mean --output?\n",
    ],
    [["apps", "show"], "error: missing required argument 'app'\n"],
    [["version", "extra"], "error: too many arguments for 'version'. Expected 0 arguments but got 1.\n"],
    [["version", "-o", "xml"], 'error: "xml" is no output format. Use table|wide|json|yaml|name|jsonpath=<path>.\n'],
  ])("[BC16] %j is answered with what was meant, and exit code 2", async (argv, err) => {
    expect(await machine().run(...argv)).toEqual({ code: 2, out: "", err });
  });

  test("[BC12] print help that was asked for on stdout, and help instead of a command on stderr", async () => {
    const asked = await machine().run("apps", "--help");
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toMatch(/deploy \[options\] +Create or change the apps of a file/);
    expect(await machine().run("apps")).toMatchObject({ code: 2, out: "" });
  });

  test("[BC11] colour their output on a terminal only, unless told otherwise", async () => {
    const on = machine();
    on.isTerminal = true;
    const isColoured = async (...argv: string[]) => (await on.run("version", ...argv)).out.includes("\u001b[");
    expect([await isColoured(), await isColoured("--color", "never")]).toEqual([true, false]);
    on.env = { NO_COLOR: "1" };
    expect([await isColoured(), await isColoured("--color", "always")]).toEqual([false, true]);
    expect((await machine().run("version")).out).not.toContain("\u001b[");
  });

  test("[BC11] colour stdout and stderr each by what it is", async () => {
    const on = machine();
    on.isTerminal = true;
    on.files.set("binnacle.yaml", "name: a\ncomponents: []\n");
    on.env = {
      BINNACLE_URL: "https://b.example.com",
      BINNACLE_TOKEN: "t",
      BINNACLE_PROJECT: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    };
    on.fetch = async (input) =>
      (input as string).includes("/projects/")
        ? new Response('{"namespace":"shop"}', { headers: { "content-type": "application/json" } })
        : new Response('{"detail":"App not found."}', { status: 404, headers: { "content-type": "application/json" } });
    on.isErrTerminal = false;
    on.answers = [false];
    const ran = await on.run("apps", "deploy", "--no-wait");
    expect(ran.err).toContain("shop/a is created\n");
    expect((await on.run("apps", "deploy", "--dry-run")).out).toContain("\u001b[1mshop/a is created");
  });

  test("[BC28] are completed in bash, zsh and fish", async () => {
    expect(candidates(COMMANDS, ["clu"], [])).toEqual(["clusters"]);
    expect(candidates(COMMANDS, ["clusters", "rb"], [])).toEqual(["rbac"]);
    expect(candidates(COMMANDS, ["clusters", "rbac", ""], [])).toEqual(["grant", "list", "replace", "revoke"]);
    expect(candidates(COMMANDS, ["apps", "deploy", "--d"], ["--debug"])).toEqual(["--debug", "--dry-run"]);
    for (const shell of ["bash", "zsh", "fish"])
      expect((await machine().run("completion", shell)).out).toContain("binnacle __complete");
    expect((await machine().run("__complete", "apps", "ro")).out).toBe("rollback\n");
    expect((await machine().run("completion", "tcsh")).code).toBe(2);
  });
});

describe("contexts", () => {
  const one = withContext(NO_STATE, "one", { url: "https://one.example.com", token: "bnc_1", org: "acme" });

  test("[BC6] give way to the environment, and their credential goes to their own address only", () => {
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

  test("[BC1] are renamed and deleted, and a damaged file is told of without its text", () => {
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
    ["http://127.0.0.1:8080/api/v1", "http://127.0.0.1:8080"],
    ["https://b.example.com/base", "https://b.example.com/base"],
  ])("[BC1] are of an address: %s", (text, url) => {
    expect(cleanUrl(text)).toBe(url);
  });

  test.each(["ftp://b", "https://ada:hush@b", "https://b/?token=hush", "https://b/#x", ""])(
    "[BC1] are not of %j",
    (text) => {
      expect(() => cleanUrl(text)).toThrow(/^The address must look like/);
    },
  );
});

describe("the schema of binnacle.yaml", () => {
  const file = JSON.parse(readFileSync(join(PACKAGES, "cli/binnacle.schema.json"), "utf8"));

  test("[BC25] in the repository is that of the contract", () => {
    expect(file, "npm run openapi writes it").toEqual(appManifestSchema());
  });

  test("[BC25] accepts what `init` and `export` write, and the templates of the catalog cannot be taken for apps", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(file);
    const isValid = (text: string) => validate(parse(text)) || validate.errors;
    expect(isValid(starter("front", "nginx:1.29", 80, "shop", "https://b.example.com"))).toBe(true);
    const component = {
      name: "web",
      type: "workload",
      workload_spec: { image: "nginx" },
      secrets: [],
      ready_replicas: 1,
    };
    expect(isValid(exported({ name: "front", components: [component] }, "shop", "https://b.example.com"))).toBe(true);
    expect(
      validate({ name: "front", components: [{ name: "web", workload_spec: { image: "nginx", replica: 2 } }] }),
    ).toBe(false);
    for (const name of readdirSync(join(PACKAGES, "../catalog/templates"))) {
      expect(validate(parse(readFileSync(join(PACKAGES, "../catalog/templates", name), "utf8"))), name).toBe(false);
    }
  });
});
