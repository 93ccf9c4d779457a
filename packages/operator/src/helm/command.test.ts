import { describe, expect, test } from "vitest";
import { rollbackArguments, uninstallArguments, upgradeArguments } from "./command.ts";
import { failureSentence } from "./failure.ts";
import { kubeconfigText } from "./kubeconfig-file.ts";

const id = { namespace: "shop", name: "db", owner: "addon" };

describe("arguments of Helm", () => {
  test("[HE8] hold names and no values", () => {
    const source = { chart: "/tmp/chart.tgz", options: ["--skip-schema-validation"] };
    expect(upgradeArguments(id, source, { "binnacle.dev/cluster": "c1", "binnacle.dev/digest": "d" })).toEqual([
      "upgrade",
      "--install",
      "--namespace=shop",
      "--timeout=300s",
      "--history-max=5",
      "--labels=binnacle.dev/cluster=c1,binnacle.dev/digest=d",
      "--values=-",
      "--reset-values",
      "--skip-schema-validation",
      "--",
      "db",
      "/tmp/chart.tgz",
    ]);
    expect(rollbackArguments(id, 3).slice(-3)).toEqual(["--", "db", "3"]);
    expect(uninstallArguments(id)).toContain("--keep-history");
  });

  test("[HE9] lead to the cluster as the operator does", () => {
    const access = { server: "https://k8s", ca: "CA", isInsecure: false, serverName: null, namespace: null };
    expect(JSON.parse(kubeconfigText(access, { token: "t0ken", certificate: null, key: null }))).toMatchObject({
      clusters: [{ cluster: { server: "https://k8s", "certificate-authority-data": "Q0E=" } }],
      users: [{ user: { token: "t0ken" } }],
    });
    const pair = { token: null, certificate: "CERT", key: "KEY" };
    expect(JSON.parse(kubeconfigText({ ...access, isInsecure: true, serverName: "x" }, pair))).toMatchObject({
      clusters: [{ cluster: { "insecure-skip-tls-verify": true, "tls-server-name": "x" } }],
      users: [{ user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" } }],
    });
  });
});

describe("[HE11] what Helm says", () => {
  const values = { auth: { password: "correct horse", pin: 123_456 }, script: "line-one\nline-two", tag: "18" };

  test.each([
    [
      `Error: Unable to continue with install: Service "db" in namespace "shop" exists and cannot be imported into the current release: invalid ownership metadata`,
      "Service db exists already and does not belong to the release.",
    ],
    [
      `level=WARN msg="x"\nError: chart "postgres" version "9.9.9" not found in https://charts.example.com repository`,
      "The repository has no chart postgres of version 9.9.9.",
    ],
    [
      `Error: looks like "https://charts.example.com" is not a valid chart repository or cannot be reached: 404`,
      "The chart's repository cannot be reached.",
    ],
    ["Error: UPGRADE FAILED: timed out waiting for the condition", "A hook of the chart did not end in time."],
    ["Error: INSTALLATION FAILED: release db failed, and has been cancelled", "It was broken off."],
    [
      "Error: execution error at (db/templates/a.yaml:1:4): set auth.password, correct horse is too short",
      "The chart refuses its values: set auth.password, [masked] is too short",
    ],
    [
      "Error: values don't meet the specifications of the schema(s) in the following chart(s):\ndb:\n- at '/auth/pin': got number 123456, want string",
      "The chart does not take its values: db: - at '/auth/pin': got number [masked], want string",
    ],
    [
      `Error: YAML parse error on db/templates/a.yaml: could not find "${Buffer.from("correct horse").toString("base64")}" or line-two`,
      `The chart cannot be rendered: YAML parse error on db/templates/a.yaml: could not find "[masked]" or [masked]`,
    ],
    ["", "Helm failed."],
  ])("%s", (output, sentence) => {
    expect(failureSentence(output, values)).toContain(sentence);
  });

  test("[HE11] is short, and safe to show", () => {
    const sentence = failureSentence(`Error: see https://ada:pw@example.com ${"x".repeat(5_000)}`, {});
    expect(sentence.length).toBeLessThan(500);
    expect(sentence).toContain("[masked]");
  });
});
