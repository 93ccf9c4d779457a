import { describe, expect, test } from "vitest";
import { type ExportSchema, exportsSeen, reportedExports, resolveExports, sourceNames } from "./exports.ts";

const declared = (from: ExportSchema[string]["from"], secret = false) => ({ description: "It.", secret, from });
const facts = { release: "db", namespace: "shop", chart: "postgres", values: { auth: { user: "ada" } }, exports: {} };
const schema: ExportSchema = {
  url: declared({ value: `pg://\${exports.user}:\${exports.password|uri}@\${exports.host}/app` }),
  host: declared({ service: `\${fullname}` }),
  address: declared({ service: `\${fullname}`, port: 5432 }),
  user: declared({ value: `\${values.auth.user}` }),
  password: declared({ secret: `\${fullname}`, key: "password" }, true),
};
const sources = {
  secrets: new Map([["db-postgres", { password: "p@ss" }]]),
  services: new Set(["db-postgres"]),
};

describe("exports", () => {
  test("[HE14] the exports of a release are made of Secrets, Services, values and one another", () => {
    expect(sourceNames(schema, facts)).toEqual({ secrets: ["db-postgres"], services: ["db-postgres"] });
    expect(resolveExports(schema, facts, sources)).toEqual({
      plain: { host: "db-postgres.shop.svc", address: "db-postgres.shop.svc:5432", user: "ada" },
      secret: { password: "p@ss", url: "pg://ada:p%40ss@db-postgres.shop.svc/app" },
      missing: [],
    });
  });

  test.each([
    ["the Service db-postgres", { ...sources, services: new Set<string>() }],
    ["the key password of the Secret db-postgres", { ...sources, secrets: new Map() }],
    ["the key password of the Secret db-postgres", { ...sources, secrets: new Map([["db-postgres", { other: "x" }]]) }],
  ])("[HE14] the exports of a release wait for %s", (missing, given) => {
    const found = resolveExports(schema, facts, given);
    expect(found.missing).toContain(missing);
    expect(found.secret).not.toHaveProperty("url");
  });

  test("[HE14] an export whose value is missing is waited for, and one that is too long is dropped", () => {
    expect(
      resolveExports({ user: schema["user"] ?? declared({ value: "" }) }, { ...facts, values: {} }, sources),
    ).toEqual({
      plain: {},
      secret: {},
      missing: ["a value that an export is made of"],
    });
    const long = resolveExports({ long: declared({ value: "x".repeat(4_097) }) }, facts, sources);
    expect(long).toEqual({ plain: {}, secret: {}, missing: ["the export long is too long to be reported"] });
  });

  test("[HE15] [HE16] [HE19] secret exports are references for apps, and are not sent to the control plane", () => {
    const found = resolveExports(schema, facts, sources);
    const seen = exportsSeen(found, "db-addon-exports");
    expect(seen["host"]).toEqual({ value: "db-postgres.shop.svc" });
    expect(seen["password"]).toEqual({
      secret: { name: "db-addon-exports", key: "password" },
      checksum: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    const rotated = resolveExports(schema, facts, {
      ...sources,
      secrets: new Map([["db-postgres", { password: "new" }]]),
    });
    expect(exportsSeen(rotated, "db-addon-exports")["password"]).not.toEqual(seen["password"]);
    expect(reportedExports(found)).toEqual({ ...found.plain, password: null, url: null });
    expect(JSON.stringify([seen, reportedExports(found)])).not.toContain("p@ss");
  });
});
