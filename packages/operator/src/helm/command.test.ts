import { describe, expect, test } from "vitest";
import { kubeconfigText, renderArguments, rollbackArguments, uninstallArguments, upgradeArguments } from "./command.ts";
import { denialFor, failureSentence } from "./failure.ts";
import { rightsFor } from "./rights.ts";

const rights = rightsFor({ namespace: "shop" }, null, { clusterWideCharts: () => [], clusterWideUser: null });
const id = { namespace: "shop", name: "db", owner: "addon" };
const SOURCE = { chart: "/tmp/a.tgz", options: [], files: async () => [] };

describe("arguments of Helm", () => {
  test("[HE8] the arguments of helm upgrade hold names and no values", () => {
    const source = { chart: "/tmp/postgres-1.2.3.tgz", options: ["--skip-schema-validation"], files: async () => [] };
    const upgrade = { source, rights, isUpgrade: true };
    expect(upgradeArguments(id, upgrade, { "binnacle.dev/cluster": "c1", "binnacle.dev/digest": "d" })).toEqual([
      "upgrade",
      "--install",
      "--namespace=shop",
      "--kube-as-user=system:serviceaccount:shop:binnacle-charts",
      "--timeout=300s",
      "--skip-crds",
      "--server-side=true",
      "--force-conflicts",
      "--history-max=5",
      "--labels=binnacle.dev/cluster=c1,binnacle.dev/digest=d",
      "--values=-",
      "--reset-values",
      "--skip-schema-validation",
      "--",
      "db",
      "/tmp/postgres-1.2.3.tgz",
    ]);
    expect(rollbackArguments(id, 3, rights).slice(-3)).toEqual(["--", "db", "3"]);
    expect(uninstallArguments(id, rights)).toContain("--keep-history");
  });

  test("[HE31] the arguments of helm upgrade and rollback take over what somebody has edited", () => {
    const upgrade = { source: SOURCE, rights, isUpgrade: true };
    for (const args of [upgradeArguments(id, upgrade, {}), rollbackArguments(id, 3, rights)]) {
      expect(args).toEqual(expect.arrayContaining(["--server-side=true", "--force-conflicts"]));
    }
  });

  test("[HE22] the arguments of Helm name the project's service account wherever Helm asks the cluster", () => {
    const upgrade = { source: SOURCE, rights, isUpgrade: false };
    const asking = [
      upgradeArguments(id, upgrade, {}),
      renderArguments(id, upgrade),
      rollbackArguments(id, 3, rights),
      uninstallArguments(id, rights),
    ];
    for (const args of asking) expect(args).toContain("--kube-as-user=system:serviceaccount:shop:binnacle-charts");
  });

  test("[HE23] the arguments of helm template render hooks and custom resource definitions too", () => {
    const upgrade = { source: SOURCE, rights, isUpgrade: true };
    expect(renderArguments(id, upgrade)).toEqual([
      "template",
      "--namespace=shop",
      "--kube-as-user=system:serviceaccount:shop:binnacle-charts",
      "--dry-run=server",
      "--include-crds",
      "--is-upgrade",
      "--values=-",
      "--",
      "db",
      "/tmp/a.tgz",
    ]);
    expect(renderArguments(id, { ...upgrade, isUpgrade: false })).not.toContain("--is-upgrade");
  });

  test("[HE24] the arguments of Helm install custom resource definitions only for charts with cluster-wide rights", () => {
    const wider = {
      user: "system:serviceaccount:binnacle-system:wide",
      namespace: "shop",
      isClusterWide: true,
      remedy: "",
    };
    const args = upgradeArguments(id, { source: SOURCE, rights: wider, isUpgrade: true }, {});
    expect(args).toContain("--kube-as-user=system:serviceaccount:binnacle-system:wide");
    expect(args).not.toContain("--skip-crds");
  });

  test("[HE9] the kubeconfig for Helm leads to the same cluster with the same credentials as the operator", () => {
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

describe("[HE23] what the API server forbids", () => {
  const user = 'User "system:serviceaccount:shop:binnacle-charts"';
  const outside = "The chart holds objects outside the namespace shop:";
  test.each([
    [
      `Unable to continue with install: could not get information about the resource ClusterRole "reader" in namespace "": clusterroles.rbac.authorization.k8s.io "reader" is forbidden: ${user} cannot get resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope`,
      `${outside} ClusterRole reader of the whole cluster. Charts have`,
    ],
    [
      `server-side apply failed for object bank/job batch/v1, Kind=Job: jobs.batch "job" is forbidden: ${user} cannot patch resource "jobs" in API group "batch" in the namespace "bank"`,
      `${outside} Job job in the namespace bank. Charts have`,
    ],
    [
      `template: a/templates/b.yaml:4:20: executing "a" at <lookup>: error calling lookup: secrets "key" is forbidden: ${user} cannot get resource "secrets" in API group "" in the namespace "bank"`,
      "The chart may not get secrets key in the namespace bank. Charts have",
    ],
    [
      `error calling lookup: secrets is forbidden: ${user} cannot list resource "secrets" in API group "" at the cluster scope`,
      "The chart may not list secrets of the whole cluster. Charts have",
    ],
    [
      `could not get information about the resource Certificate "tls" in namespace "shop": certificates.cert-manager.io "tls" is forbidden: ${user} cannot get resource "certificates" in API group "cert-manager.io" in the namespace "shop"`,
      "The chart may not get Certificate tls in the namespace shop.",
    ],
    [
      `roles.rbac.authorization.k8s.io "db" is forbidden: user "system:serviceaccount:shop:binnacle-charts" (groups=["system:serviceaccounts"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}`,
      "The chart's roles.rbac.authorization.k8s.io db would grant rights that charts do not have themselves.",
    ],
    [
      `serviceaccounts "binnacle-charts" is forbidden: User "system:serviceaccount:binnacle-system:op" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"`,
      "The operator may not act for charts of this namespace",
    ],
  ])("a refusal by the API server is told by the object: %s", (words, sentence) => {
    const failure = denialFor(`Error: ${words}`, rights);
    expect(failure).toMatchObject({ reason: "ForbiddenObject", message: expect.stringContaining(sentence) });
  });

  test("the message about a forbidden object of the release's own namespace names rbac.chartRules", () => {
    const words = `jobs.x "a" is forbidden: ${user} cannot get resource "jobs" in API group "x" in the namespace "shop"`;
    expect(denialFor(`Error: ${words}`, rights)?.message).toContain("rbac.chartRules");
  });

  test("other refusals are not taken for missing rights of a chart, and long output is searched without delay", () => {
    for (const words of [
      `pods "a" is forbidden: violates PodSecurity "baseline:latest": privileged`,
      `secrets "key" is forbidden: User "somebody" cannot get resource "secrets" in API group "" in the namespace "bank"`,
      "",
    ]) {
      expect(denialFor(`Error: ${words}`, rights)).toBeNull();
    }
    for (const text of ["resource Kind=A ", "a.", '"a" is forbidden: User "', "A"]) {
      expect(denialFor(`Error: ${text.repeat(65_536 / text.length)}`, rights)).toBeNull();
    }
  });
});

describe("[HE11] what Helm says", () => {
  const values = { auth: { password: "correct horse", pin: 123_456 }, script: "line-one\nline-two", tag: "18" };

  test.each([
    [
      `Error: Unable to continue with install: Service "db" in namespace "shop" exists and cannot be imported into the current release: invalid ownership metadata`,
      "Service db exists already and does not belong to the release.",
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
  ])("the output of Helm becomes a sentence without values: %s", (output, sentence) => {
    expect(failureSentence(output, values)).toContain(sentence);
  });

  test("[HE11] a failure of Helm becomes a short sentence that is safe to show", () => {
    const sentence = failureSentence(`Error: see https://ada:pw@example.com ${"x".repeat(5_000)}`, {});
    expect(sentence.length).toBeLessThan(500);
    expect(sentence).toContain("[masked]");
  });
});
