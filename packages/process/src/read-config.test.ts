import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filled, integer, url } from "./parsers.ts";
import { ConfigProblems, optional, readConfig, required, setting } from "./read-config.ts";

const SETTINGS = {
  port: setting("BINNACLE_PORT", "8080", integer(0, 65_535), "Port to listen on"),
  id: required("BINNACLE_ID", filled, "What it is known by"),
  proxy: optional("PROXY", url("http:"), "Where requests go through"),
};
const SECRETS = {
  key: optional("BINNACLE_KEY", integer(0, 9), "Signs"),
};

const withoutPasswords = (text: string) => text.replace(/:\w+@/, ":…@");
const read = (env: Record<string, string>) =>
  readConfig({ program: "the ferry", settings: SETTINGS, secrets: SECRETS, shown: withoutPasswords }, env);

function problemsOf(reading: () => unknown): readonly string[] {
  try {
    reading();
    return [];
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems;
    throw error;
  }
}

describe("a configuration", () => {
  test("[CF1] a configuration is read from the environment and the defaults, with the secrets apart", () => {
    expect(read({ BINNACLE_ID: "a" })).toEqual({ port: 8080, id: "a", proxy: null, secrets: { key: null } });
    expect(read({ BINNACLE_ID: "a", BINNACLE_PORT: "1", PROXY: "http://p", BINNACLE_KEY: "7" })).toEqual({
      port: 1,
      id: "a",
      proxy: "http://p",
      secrets: { key: 7 },
    });
  });

  test("[CF2] a wrong configuration is refused with all its problems at once", () => {
    const problems = problemsOf(() =>
      read({ BINNACLE_PORT: "many", BINNACLE_KEY: "hush", PROXY: "ftp://robot:hush@p", BINNACLE_PROT: "1" }),
    );
    expect(problems).toEqual([
      "BINNACLE_PROT is not a variable of the ferry",
      'BINNACLE_PORT must be a whole number from 0 to 65535 (it is "many")',
      "BINNACLE_ID is required",
      'PROXY must be an address that begins with http:// (it is "ftp://robot:…@p")',
      "BINNACLE_KEY must be a whole number from 0 to 9",
    ]);
    expect(new ConfigProblems(problems).message).toContain(problems.map((problem) => `  - ${problem}`).join("\n"));
  });

  test("[CF2] a configuration is refused for values that do not go together, judged by the values that fit", () => {
    const clashes = ({ port, id }: { port?: number; id?: string }) => [`${id} cannot have port ${port}`];
    const reader = { program: "the ferry", settings: SETTINGS, secrets: SECRETS, shown: withoutPasswords, clashes };
    expect(problemsOf(() => readConfig(reader, { BINNACLE_ID: "a" }))).toEqual(["a cannot have port 8080"]);
    expect(problemsOf(() => readConfig(reader, { BINNACLE_ID: "a", BINNACLE_PORT: "-" }))[1]).toBe(
      "a cannot have port undefined",
    );
  });

  test("[CF3] a problem of a configuration never shows a secret", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3, unit: fc.constantFrom("Q", "X", ":", "/", "@") }), (secret) => {
        expect(problemsOf(() => read({ BINNACLE_KEY: secret })).join()).not.toContain(secret);
      }),
    );
  });

  test("[CF4] a configuration refuses every unknown variable with the prefix BINNACLE_, and no other", () => {
    const env = { BINNACLE_ID: "a", BINNACLE_SECRET: "hush", BINNACLE_: "", HOME: "/root", PORT: "1" };
    expect(problemsOf(() => read(env))).toEqual([
      "BINNACLE_ is not a variable of the ferry",
      "BINNACLE_SECRET is not a variable of the ferry",
    ]);
  });

  test("[CF5] a configuration ignores the variables that Kubernetes sets for Services called binnacle…", () => {
    const links = {
      BINNACLE_PORT: "tcp://10.0.0.7:8080",
      BINNACLE_SERVICE_HOST: "10.0.0.7",
      BINNACLE_SERVICE_PORT: "8080",
      BINNACLE_SERVICE_PORT_HTTP: "8080",
      BINNACLE_PORT_8080_TCP: "tcp://10.0.0.7:8080",
      BINNACLE_PORT_8080_TCP_PROTO: "tcp",
      BINNACLE_PORT_8080_TCP_PORT: "8080",
      BINNACLE_PORT_8080_TCP_ADDR: "10.0.0.7",
      BINNACLE_HUB_2_PORT: "udp://10.0.0.8:9000",
      BINNACLE_HUB_2_SERVICE_HOST: "10.0.0.8",
      BINNACLE_HUB_2_PORT_9000_UDP_ADDR: "10.0.0.8",
    };
    expect(read({ BINNACLE_ID: "a", ...links })).toEqual(read({ BINNACLE_ID: "a" }));
    expect(read({ BINNACLE_ID: "a", ...links, BINNACLE_PORT: "9090" }).port).toBe(9090);
    expect(problemsOf(() => read({ BINNACLE_ID: "a", BINNACLE_OTHER_PORT: "8080" }))).toEqual([
      "BINNACLE_OTHER_PORT is not a variable of the ferry",
    ]);
  });

  test("[CF6] an empty variable counts as one that is not set", () => {
    const empty = { BINNACLE_PORT: "", PROXY: "", BINNACLE_KEY: "" };
    expect(read({ BINNACLE_ID: "a", ...empty })).toEqual(read({ BINNACLE_ID: "a" }));
    expect(problemsOf(() => read({ BINNACLE_ID: "" }))).toEqual(["BINNACLE_ID is required"]);
  });
});
