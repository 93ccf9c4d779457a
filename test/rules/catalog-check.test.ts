import { describe, expect, test } from "vitest";
import { findings, releasesOf, unknownValues, valuesOf } from "../../scripts/catalog-findings.ts";

const DEFINITION: Parameters<typeof findings>[0] = {
  chart: { repo: "https://charts.example.com", name: "store", version: "1.0.0", versions: ["1.0.0"] },
  default_values: { user: "app", resources: { limits: { cpu: "1" } } },
  values_schema: {
    properties: { user: {}, auth: { $ref: "#/$defs/auth" } },
    $defs: { auth: { properties: { password: {} } } },
  },
  secret_values: ["auth.password"],
  export_schema: {
    host: { description: "The host.", secret: false, from: { service: `\${fullname}` } },
    port: { description: "The port.", secret: false, from: { value: "5432" } },
    password: { description: "The password.", secret: true, from: { secret: `\${fullname}`, key: "password" } },
    url: {
      description: "All of it.",
      secret: true,
      from: { value: `store://\${exports.password}@\${exports.host}:5432` },
    },
  },
};

interface Rendered {
  readonly service?: string;
  readonly port?: number;
  readonly key?: string;
  readonly password?: string;
}

const PASSWORD = (valuesOf(DEFINITION)["auth"] as { password: string }).password;

/** As `helm template` prints it. */
const manifest = ({ service = "keeper-store", port = 5432, key = "password", password = PASSWORD }: Rendered = {}) =>
  [
    { apiVersion: "v1", kind: "Service", metadata: { name: service }, spec: { ports: [{ port }] } },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "keeper-store" },
      data: { [key]: Buffer.from(password).toString("base64") },
    },
  ]
    .map((object) => `---\n# Source: store/templates/all.yaml\n${JSON.stringify(object)}\n`)
    .join("");

describe("a chart that is held against the definition of its addon", () => {
  const HAS = "it has the Services keeper-store and the Secrets keeper-store";
  const HAS_OTHER = "it has the Services keeper and the Secrets keeper-store";
  test.each<[string, Rendered, readonly string[]]>([
    ["is as it says", {}, []],
    [
      "has no such Service",
      { service: "keeper" },
      [`exports need the Service keeper-store; ${HAS_OTHER}`, `exports need the exports password, host; ${HAS_OTHER}`],
    ],
    [
      "has no such key",
      { key: "pass" },
      [
        `exports need the exports password, host; ${HAS}`,
        `exports need the key password of the Secret keeper-store; ${HAS}`,
      ],
    ],
    [
      "serves another port",
      { port: 5433 },
      [
        "export url leads to port 5432 of the Service keeper-store, which has 5433",
        "export port leads to port 5432 of the Service keeper-store, which has 5433",
      ],
    ],
    ["ignores the secret", { password: "made up" }, ["the chart makes nothing of the value auth.password"]],
  ])("[CG17] a chart that %s is checked against its definition", (_, rendered, expected) => {
    expect(findings(DEFINITION, { name: "keeper", namespace: "shop" }, manifest(rendered))).toEqual(expected);
  });

  test("[CG17] a chart is rendered under a release name that contains the chart's name, and under one that does not", () => {
    expect(releasesOf(DEFINITION).map(({ name }) => name)).toEqual(["keeper", "my-store"]);
    expect(valuesOf(DEFINITION)).toEqual({ ...DEFINITION.default_values, auth: { password: PASSWORD } });
  });

  test("[CG17] a chart has every value that its definition sets or lets users set", () => {
    expect(unknownValues(DEFINITION, "user: ''\nauth: {}\nresources: { requests: { cpu: 1 } }\n")).toEqual([]);
    expect(unknownValues(DEFINITION, "username: ''\nauth: { secret: '' }\nresources: {}\n")).toEqual([
      "the chart has no value user",
      "the chart has no value auth.password",
    ]);
  });
});
