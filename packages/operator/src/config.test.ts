import { readFileSync } from "node:fs";
import { ConfigProblems } from "@binnacle/process";
import { describe, expect, test } from "vitest";
import { VARIABLES } from "./config/variables.ts";
import { parseConfig } from "./config.ts";

const TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbHVzdGVyIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";
const complete = {
  BINNACLE_HUB_URL: "wss://binnacle.example.com/hub/v1",
  BINNACLE_CLUSTER_ID: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  BINNACLE_TOKEN: TOKEN,
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems;
    throw error;
  }
}

describe("the configuration of the operator", () => {
  test("[OL1] the configuration of the operator needs an address, an id and a token, and has defaults for the rest", () => {
    expect(parseConfig(complete)).toEqual({
      hubUrl: "wss://binnacle.example.com/hub/v1",
      clusterId: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
      kubeconfig: null,
      namespace: "binnacle-system",
      tokenSecret: null,
      deployment: null,
      pod: null,
      helm: "helm",
      helmSlots: 2,
      appsAtOnce: 5,
      chartHosts: [],
      hubProxy: null,
      serviceAccount: null,
      projectsRole: null,
      podSecurityLimit: "privileged",
      exec: "on",
      infrastructure: "on",
      chartsRole: "binnacle-charts",
      ingressAnnotations: [],
      broadIngresses: "off",
      clusterChartsAccount: null,
      prometheusUrl: null,
      healthPort: 8081,
      logLevel: "info",
      tracesEndpoint: null,
      secrets: { token: TOKEN },
    });
  });

  test("[OL1] the configuration of the operator is read from the environment", () => {
    const config = parseConfig({
      BINNACLE_HUB_URL: "ws://127.0.0.1:8080",
      BINNACLE_CLUSTER_ID: "01932C07-31F1-7A4E-8D8B-6F1A2F0C5D11",
      BINNACLE_TOKEN: ` ${TOKEN}\n`,
      KUBECONFIG: "/etc/kubeconfig",
      BINNACLE_TOKEN_SECRET: "binnacle-operator-token",
      BINNACLE_PROMETHEUS_URL: "http://prometheus.monitoring:9090/",
      BINNACLE_HEALTH_PORT: "0",
      BINNACLE_CHART_HOSTS: "charts.internal, 10.0.0.7:5000",
    });
    expect(config).toMatchObject({
      hubUrl: "ws://127.0.0.1:8080/hub/v1",
      clusterId: complete.BINNACLE_CLUSTER_ID,
      kubeconfig: "/etc/kubeconfig",
      tokenSecret: "binnacle-operator-token",
      prometheusUrl: "http://prometheus.monitoring:9090",
      healthPort: 0,
      chartHosts: ["charts.internal", "10.0.0.7:5000"],
      secrets: { token: TOKEN },
    });
  });

  test("[OL1] a wrong configuration of the operator is refused with all its problems at once", () => {
    expect(problemsOf({ BINNACLE_HUB_ULR: "x", BINNACLE_HEALTH_PORT: "many", BINNACLE_CLUSTER_ID: "" })).toEqual([
      "BINNACLE_HUB_ULR is not a variable of the Binnacle operator",
      "BINNACLE_HUB_URL is required",
      "BINNACLE_CLUSTER_ID is required",
      'BINNACLE_HEALTH_PORT must be a whole number from 0 to 65535 (it is "many")',
      "BINNACLE_TOKEN is required",
    ]);
  });

  test.each([
    ["BINNACLE_HUB_URL", "https://binnacle.example.com"],
    ["BINNACLE_HUB_URL", "binnacle.example.com"],
    ["BINNACLE_HUB_URL", "wss://binnacle.example.com/hub/v1?token=x"],
    ["BINNACLE_HUB_PROXY", "proxy.example.com:3128"],
    ["BINNACLE_HUB_PROXY", "http://robot:hush@proxy.example.com:3128"],
    ["BINNACLE_CLUSTER_ID", "production"],
    ["BINNACLE_TOKEN", "two words"],
    ["BINNACLE_TOKEN", "umlaut-ü"],
    ["BINNACLE_NAMESPACE", "Binnacle"],
    ["BINNACLE_TOKEN_SECRET", "a/b"],
    ["BINNACLE_HELM", " "],
    ["BINNACLE_PROMETHEUS_URL", "prometheus:9090"],
    ["BINNACLE_HEALTH_PORT", "65536"],
    ["BINNACLE_LOG_LEVEL", "loud"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
  ])("[OL1] the configuration of the operator refuses %s=%s", (name, value) => {
    const problems = problemsOf({ ...complete, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} must`));
  });

  test("[OL2] the configuration of the operator ignores the variables that Kubernetes sets for Services", () => {
    const links = {
      BINNACLE_SERVICE_HOST: "10.0.0.7",
      BINNACLE_HEALTH_SERVICE_PORT: "8081",
      BINNACLE_HEALTH_PORT: "tcp://10.0.0.7:8081",
      BINNACLE_PORT_8080_TCP_ADDR: "10.0.0.7",
    };
    expect(parseConfig({ ...complete, ...links })).toEqual(parseConfig(complete));
    expect(problemsOf({ ...complete, BINNACLE_PORT: "8080" })).toEqual([
      "BINNACLE_PORT is not a variable of the Binnacle operator",
    ]);
  });

  test("[OL3] a problem of the configuration shows neither the token nor a password in an address", () => {
    const problems = problemsOf({
      ...complete,
      BINNACLE_TOKEN: "hush hush",
      BINNACLE_HUB_URL: "wss://robot:hush@binnacle.example.com",
      BINNACLE_PROMETHEUS_URL: "http://robot:hush@prometheus",
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain("hush");
  });

  test("[OL4] the operations guide lists every variable of the operator", () => {
    const shown = (fallback: string | null | undefined) =>
      fallback === undefined ? "required" : fallback ? `\`${fallback}\`` : "none";
    const guide = readFileSync(new URL("../../../docs/operations/operator.md", import.meta.url), "utf8");
    const listed = guide.split("\n").filter((line) => /^\| `[A-Z_]+`/.test(line));
    expect(listed).toEqual(
      VARIABLES.map(({ name, fallback, meaning }) => `| \`${name}\` | ${shown(fallback)} | ${meaning} |`),
    );
  });
});
