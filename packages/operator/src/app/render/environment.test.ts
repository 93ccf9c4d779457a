import type { DesiredComponent } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../kube/kube-client.ts";
import { variableName } from "./environment.ts";
import { CHECKSUM_ANNOTATION } from "./pod-template.ts";
import {
  objectAt,
  objectsOf,
  podOf,
  problem,
  rendered,
  standing,
  templateIn,
  variableOf,
  workload,
} from "./rendered.fixture.ts";
import type { Exports, Publisher, Workload } from "./rendering.ts";
import { dnsLabel, exportKey } from "./some-app.fixture.ts";

const API = workload("api", {
  ports: [
    { name: "http", port: 8080 },
    { name: "https-admin", port: 9443 },
    { name: "stats", port: 8125, protocol: "UDP" },
  ],
});
const ENV: NonNullable<Workload["env"]> = [{ name: "LOG_LEVEL", value: "info" }];
const taking = (...export_refs: NonNullable<DesiredComponent["export_refs"]>) => workload("web", {}, { export_refs });
const DB: Publisher = {
  keys: ["host", "password"],
  exports: { host: { value: "db.market.svc" }, password: { secret: { name: "db-addon-exports", key: "password" } } },
};
const instances = new Map([["db", DB]]);
const PASSWORD = { secretKeyRef: { name: "db-addon-exports", key: "password" } };
const base64 = (text: string) => Buffer.from(text).toString("base64");
const variables = (components: DesiredComponent[], around: Parameters<typeof objectsOf>[1], ...names: string[]) => {
  const objects = objectsOf(components, around);
  return names.map((name) => variableOf(objects, "Deployment/shop-web", name));
};

describe("variables and secrets", () => {
  test("[RN16] variables are rendered into a ConfigMap and secrets into a Secret, as they are written", () => {
    const env = [...ENV, { name: "EMPTY", value: "" }, { name: "PRICE", value: "$(LOG_LEVEL) ü" }];
    const objects = objectsOf([workload("web", { env })], { secrets: { web: { KEY: "hunter2 ü", NONE: "" } } });
    expect(objectAt(objects, "ConfigMap/shop-web-env")["data"]).toEqual({
      EMPTY: "",
      LOG_LEVEL: "info",
      PRICE: "$(LOG_LEVEL) ü",
    });
    expect(objectAt(objects, "Secret/shop-web-secrets")).toMatchObject({
      type: "Opaque",
      data: { KEY: Buffer.from("hunter2 ü").toString("base64"), NONE: "" },
    });
    expect(JSON.stringify(objects.filter(({ kind }) => kind !== "Secret"))).not.toContain("hunter2");
    expect(objects).toHaveLength(3);
  });

  test("[RN16] pods are replaced when variables, secrets or secret exports change, and only then", () => {
    const sum = (env: Workload["env"], secrets: Record<string, string>, checksum = "1") => {
      const exports: Exports = { password: { secret: { name: "s", key: "k" }, checksum } };
      const web = workload("web", env ? { env } : {}, { export_refs: [{ component: "db" }] });
      const around = { secrets: { web: secrets }, instances: new Map([["db", { keys: [], exports }]]) };
      return podOf(web, around, standing("db")).metadata.annotations?.[CHECKSUM_ANNOTATION];
    };
    const sums = [sum(ENV, {}), sum([], {}), sum([], { A: "1" }), sum([], { A: "2" }), sum([], { A: "2" }, "2")];
    expect(new Set(sums).size).toBe(sums.length);
    expect(sum(ENV, { A: "1" })).toBe(sum(ENV, { A: "1" }));
    expect(podOf(workload("web")).metadata).not.toHaveProperty("annotations");
  });

  test("[RN23] secrets of a chart are rendered into a Secret for its values to name, and those of an addon are not", () => {
    const release = { chart: { repo: "r", name: "c" }, export_schema: {} };
    const objects = objectsOf([{ name: "db", type: "chart", release }], { secrets: { db: { KEY: "x" } } });
    expect(objectAt(objects, "Secret/shop-db-secrets")).toHaveProperty("data", { KEY: "eA==" });
    expect(objectsOf([{ name: "db", type: "chart", release }])).toEqual([]);
    expect(objectsOf([{ name: "db", type: "addon", release }], { secrets: { db: { KEY: "x" } } })).toEqual([]);
  });
});

describe("the exports of a workload", () => {
  const all = (component: DesiredComponent) =>
    objectAt(objectsOf([component, taking({ component: component.name })]), "ConfigMap/shop-web-env")["data"];

  test("[RN17] the exports of a workload give the host, port and URL of its ports", () => {
    expect(all(API)).toEqual({
      API_HOST: "shop-api.market.svc",
      API_PORT: "8080",
      API_URL: "http://shop-api.market.svc:8080",
      API_HTTP_PORT: "8080",
      API_HTTP_URL: "http://shop-api.market.svc:8080",
      API_HTTPS_ADMIN_PORT: "9443",
      API_HTTPS_ADMIN_URL: "https://shop-api.market.svc:9443",
      API_STATS_PORT: "8125",
      API_STATS_URL: "udp://shop-api.market.svc:8125",
    });
  });

  test("[RN17] the exports that a workload declares itself win over those derived from its ports", () => {
    const exports = { url: "https://api.example.com", path: `/$\${v1}` };
    expect(all({ ...API, exports })).toMatchObject({
      API_URL: "https://api.example.com",
      API_PATH: `/\${v1}`,
      API_PORT: "8080",
    });
    expect(all(workload("log", { kind: "job", ports: [{ name: "http", port: 80 }] }, { exports }))).toEqual({
      LOG_URL: "https://api.example.com",
      LOG_PATH: `/\${v1}`,
    });
  });
});

describe("exports with placeholders", () => {
  const PG = { ports: [{ name: "postgres", port: 5432 }] };
  const dsn = `postgres://app:\${secret.PASSWORD|uri}@\${host}:\${port}/app`;
  const composing = (exports: Record<string, string>, spec: Workload = PG) => workload("db", spec, { exports });
  const secretsIn = (objects: readonly KubeObject[]) => JSON.stringify(objects.filter(({ kind }) => kind === "Secret"));

  test("[RN29] an export that names a secret reaches other components through a Secret and stands in no other object", () => {
    const PASSWORD_TEXT = "p@ss:w/ord";
    const components = [composing({ dsn, where: `\${postgres_url}` }), taking({ component: "db" })];
    const objects = objectsOf(components, { secrets: { db: { PASSWORD: PASSWORD_TEXT } } });
    const data = { dsn: base64("postgres://app:p%40ss%3Aw%2Ford@shop-db.market.svc:5432/app") };
    expect(objectAt(objects, "Secret/shop-db-composed")).toMatchObject({ type: "Opaque", data });
    expect(variableOf(objects, "Deployment/shop-web", "DB_DSN")).toEqual({
      secretKeyRef: { name: "shop-db-composed", key: "dsn" },
    });
    expect(variableOf(objects, "Deployment/shop-web", "DB_WHERE")).toBe("postgres://shop-db.market.svc:5432");
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== "Secret"));
    expect(others).not.toContain(PASSWORD_TEXT);
    expect(others).not.toContain("p%40ss");
    expect(secretsIn(objects)).toContain(base64(PASSWORD_TEXT));
  });

  test("[RN29] an export of a chart may name the chart's secrets", () => {
    const release = { chart: { repo: "r", name: "c" }, export_schema: {} };
    const db: DesiredComponent = { name: "db", type: "chart", release, exports: { token: `t-\${secret.auth.token}` } };
    const objects = objectsOf([db, taking({ component: "db" })], { secrets: { db: { "auth.token": "x" } } });
    expect(objectAt(objects, "Secret/shop-db-composed")["data"]).toEqual({ token: base64("t-x") });
    expect(
      variables([db, taking({ component: "db" })], { secrets: { db: { "auth.token": "x" } } }, "DB_TOKEN"),
    ).toEqual([{ secretKeyRef: { name: "shop-db-composed", key: "token" } }]);
  });

  test("[RN29] pods that use an export are replaced when its secret changes, and wait until the secret is set", () => {
    const components = [composing({ dsn }), taking({ component: "db", key: "dsn" })];
    const sum = (PASSWORD: string) =>
      templateIn(objectAt(objectsOf(components, { secrets: { db: { PASSWORD } } }), "Deployment/shop-web"))?.metadata
        .annotations?.[CHECKSUM_ANNOTATION];
    expect(sum("one")).toBe(sum("one"));
    expect(sum("one")).not.toBe(sum("two"));
    const waiting = rendered(components).components.map(({ name, waitingFor }) => [name, waitingFor]);
    expect(waiting).toEqual([
      ["db", []],
      ["web", ["db.dsn"]],
    ]);
  });

  test("[RN29] a secret with half a surrogate pair is percent-encoded as a replacement character in an export", () => {
    const objects = objectsOf([composing({ dsn: `\${secret.A|uri}` })], { secrets: { db: { A: "\ud800" } } });
    expect(objectAt(objects, "Secret/shop-db-composed")["data"]).toEqual({ dsn: base64("%EF%BF%BD") });
  });

  test("[RN29] an export that becomes too long or names an unknown value makes the app invalid", () => {
    const secrets = { db: { A: "x".repeat(60_000) } };
    expect(problem([composing({ dsn: `\${secret.A}` })], { secrets })).toBeNull();
    expect(problem([composing({ dsn: `\${secret.A}`.repeat(2) })], { secrets })).toMatchObject({
      invalid: "TooLarge",
      message: expect.stringMatching(/^The export dsn of component db is longer than 65536 characters/),
    });
    expect(problem([composing({ dsn: `\${hots}` })])).toMatchObject({
      invalid: "UnknownExport",
      message: expect.stringMatching(/^Component db uses \$\{hots\} in exports\.dsn/),
    });
  });

  test.each<[string, NonNullable<Workload["ports"]>[number]]>([
    ["http", { name: "http", port: 8080 }],
    ["http", { name: "web", port: 80 }],
    ["https", { name: "web", port: 443 }],
    ["https", { name: "http", port: 443 }],
    ["https", { name: "https-admin", port: 9443 }],
    ["postgres", { name: "postgres", port: 5432 }],
    ["redis", { name: "redis-main", port: 6379 }],
    ["amqp", { name: "amqp", port: 80 }],
    ["tcp", { name: "sql", port: 5432 }],
    ["tcp", { name: "httpd", port: 8080 }],
    ["udp", { name: "http", port: 53, protocol: "UDP" }],
  ])("[RN28] the URL that a workload exports begins with %s where the port is %j", (scheme, port) => {
    const objects = objectsOf([workload("db", { ports: [port] }), taking({ component: "db" })]);
    expect(variableOf(objects, "Deployment/shop-web", "DB_URL")).toBe(`${scheme}://shop-db.market.svc:${port.port}`);
  });
});

describe("an export_ref", () => {
  test("[RN18] an export_ref names a component, also one that stands for an addon instance", () => {
    const own = workload("db", { ports: [{ name: "sql", port: 5432 }] });
    expect(variables([own, taking({ component: "db" })], { instances }, "DB_HOST")).toEqual(["shop-db.market.svc"]);
    const store: DesiredComponent = { name: "store", type: "addon", addon_instance: "db" };
    expect(variables([store, taking({ component: "store" })], { instances }, "STORE_HOST")).toEqual(["db.market.svc"]);
  });

  test("[RN19] an export_ref with a key becomes one variable, and without a key it becomes a variable for each export", () => {
    const refs = [
      { component: "api", key: "url" },
      { component: "api", key: "port", env: "backend_port" },
      { component: "db", env: "PG" },
    ];
    const names = ["API_URL", "backend_port", "API_HOST", "PG_HOST", "PG_PASSWORD", "DB_HOST"];
    expect(variables([API, standing("db"), taking(...refs)], { instances }, ...names)).toEqual([
      "http://shop-api.market.svc:8080",
      "8080",
      undefined,
      "db.market.svc",
      PASSWORD,
      undefined,
    ]);
  });

  test("[RN19] the variable names derived from an export_ref are valid on every system", () => {
    expect(variableName("my-db", "user.name")).toBe("MY_DB_USER_NAME");
    expect(variableName("1st", "url")).toBe("_1ST_URL");
    fc.assert(
      fc.property(dnsLabel(63), exportKey, (component, key) => {
        expect(variableName(component, key)).toMatch(/^[A-Z_][A-Z0-9_]*$/);
      }),
    );
  });

  test("[RN20] an export_ref gives way to written variables and secrets, and one without a key to one with a key", () => {
    const export_refs = [{ component: "api", key: "port", env: "API_URL" }, { component: "api" }, { component: "db" }];
    const env: Workload["env"] = [
      { name: "DB_PASSWORD", value: "mine" },
      { name: "BOTH", value: "env" },
    ];
    const web = workload("web", { env }, { export_refs });
    const around = { instances, secrets: { web: { API_HOST: "secret", BOTH: "secret", DB_PASSWORD: "secret" } } };
    expect(variables([API, standing("db"), web], around, "API_URL", "API_HOST", "BOTH", "DB_PASSWORD")).toEqual([
      "8080",
      "secret",
      "env",
      "mine",
    ]);
  });

  test("[RN20] an export_ref that stands in env wins over a secret of the same name", () => {
    const env = [{ name: "PASS", export_ref: { component: "db", key: "password" } }];
    const around = { instances, secrets: { web: { PASS: "x" } } };
    expect(variables([standing("db"), workload("web", { env })], around, "PASS")).toEqual([PASSWORD]);
  });

  test("[RN21] an export_ref to a secret is read by the pod from the Secret and stands in no other object", () => {
    const objects = objectsOf([standing("db"), taking({ component: "db" })], { instances });
    expect(objectAt(objects, "ConfigMap/shop-web-env")["data"]).toEqual({ DB_HOST: "db.market.svc" });
    expect(variableOf(objects, "Deployment/shop-web", "DB_PASSWORD")).toEqual(PASSWORD);
  });

  test("[RN22] an export_ref that is not known yet keeps its component waiting, and no other component", () => {
    const schema = { description: "x", secret: false, from: { value: "x" } };
    const db: DesiredComponent = {
      name: "db",
      type: "addon",
      release: { chart: { repo: "r", name: "c" }, export_schema: { host: schema, url: schema } },
    };
    const web = taking({ component: "db" }, { component: "db", key: "url", env: "DATABASE_URL" });
    const releases = new Map<string, Exports>([["db", { host: { value: "h" } }]]);
    const app = rendered([db, web, API], { releases });
    expect(app.components.map(({ name, objects, waitingFor }) => [name, objects.length > 0, waitingFor])).toEqual([
      ["db", false, []],
      ["api", true, []],
      ["web", false, ["db.url"]],
    ]);
    const known = new Map<string, Exports>([["db", { host: { value: "h" }, url: { value: "u" } }]]);
    expect(variables([db, web], { releases: known }, "DATABASE_URL")).toEqual(["u"]);
  });

  test("[RN22] a component does not wait for an export_ref that something else overrides", () => {
    const waiting = new Map([["db", { keys: ["url"], exports: {} }]]);
    const web = workload("web", { env: [{ name: "DB_URL", value: "mine" }] }, { export_refs: [{ component: "db" }] });
    const { components } = rendered([standing("db"), web], { instances: waiting });
    expect(components.map(({ waitingFor }) => waitingFor)).toEqual([[], []]);
  });
});
