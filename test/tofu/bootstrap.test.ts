import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT_ANSWER, ANSWER, Machine, OPERATOR, SCRIPT, SECRETS } from "./machine.ts";
import { optionalTool } from "./tools.ts";

let machine: Machine;
beforeEach(async () => {
  machine = new Machine();
  await machine.start();
});
afterEach(() => machine.stop());

test("[PN68] [PN157] the control plane gets its secrets, starts k3s, and has the operator's chart", async () => {
  machine.answers = [[200, ANSWER]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  const sent = machine.requests.find((request) => request.includes("/node-bootstrap "));
  expect(JSON.parse(sent?.split(" ").slice(2).join(" ") ?? "")).toEqual({
    cluster_id: OPERATOR.cluster_id,
    node: "control-plane",
    token: SECRETS.node,
  });
  expect(machine.json("etc/rancher/k3s/config.yaml")).toEqual({
    "node-name": "control-plane",
    "token-file": "/etc/rancher/k3s/join-token",
    "kubelet-arg": ["cloud-provider=external", "provider-id=aws:///eu-west-1a/i-0123"],
    "disable-cloud-controller": true,
    disable: ["servicelb", "local-storage"],
    "secrets-encryption": true,
    "write-kubeconfig-mode": "0600",
    "agent-token-file": "/etc/rancher/k3s/agent-token",
    "cluster-init": true,
    "etcd-snapshot-schedule-cron": "0 * * * *",
    "etcd-snapshot-retention": 48,
    "etcd-snapshot-compress": true,
    "tls-san": ["198.51.100.7"],
  });
  expect(machine.read("etc/rancher/k3s/join-token")).toBe(`${SECRETS.join}\n`);
  expect(machine.read("etc/rancher/k3s/agent-token")).toBe(`${SECRETS.agents}\n`);
  const chart = machine.json("var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml");
  expect(chart.spec).toMatchObject({
    chart: OPERATOR.chart_url,
    targetNamespace: "binnacle-system",
    createNamespace: true,
  });
  expect(JSON.parse(chart.spec.valuesContent)).toEqual({
    hub: { url: OPERATOR.hub_url },
    cluster: { id: OPERATOR.cluster_id, existingSecret: "binnacle-agent-token" },
    rbac: { infrastructure: true },
    limits: { podSecurity: "privileged" },
    image: OPERATOR.image,
  });
  expect(machine.read("etc/systemd/system/k3s.service")).toMatch(
    /Type=notify[\s\S]*ExecStart=\/usr\/local\/bin\/k3s server\n/,
  );
  expect(machine.log.trimEnd()).toMatch(/the node is up$/);
});

test("[PN152] the operator's token is in a Secret alone, which no manifest on the disk brings back", async () => {
  machine.answers = [[200, ANSWER]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  expect(machine.json("applied").items).toMatchObject([
    { kind: "Namespace", metadata: { name: "binnacle-system" } },
    {
      kind: "Secret",
      metadata: { name: "binnacle-agent-token", namespace: "binnacle-system" },
      data: { token: Buffer.from(SECRETS.agent).toString("base64") },
    },
  ]);
  expect(machine.has("etc/binnacle/operator.json")).toBe(false);
});

const BUCKET = { name: "snapshots", region: "eu-west-1", endpoint: "s3.eu-west-1.amazonaws.com" };

test("[PN153] the control plane puts snapshots of its data into the bucket, in the folder of the cluster", async () => {
  machine.answers = [[200, ANSWER]];
  expect(await machine.boot("control-plane", "", { snapshot_bucket: BUCKET })).toMatchObject({ status: 0 });
  expect(machine.json("etc/rancher/k3s/config.yaml")).toMatchObject({
    "etcd-s3": true,
    "etcd-s3-bucket": "snapshots",
    "etcd-s3-region": "eu-west-1",
    "etcd-s3-endpoint": "s3.eu-west-1.amazonaws.com",
    "etcd-s3-folder": OPERATOR.cluster_id,
  });
  expect(machine.read("calls")).not.toContain("--cluster-reset");
});

test("[PN154] a control plane begins with the snapshot that it is given, without the node of the machine before it", async () => {
  machine.answers = [[200, ANSWER]];
  const given = { snapshot_bucket: BUCKET, restored_snapshot: "etcd-snapshot-control-plane-2.zip" };
  expect(await machine.boot("control-plane", "", given)).toMatchObject({ status: 0 });
  const calls = machine.read("calls").match(/^(k3s (server|kubectl .*delete).*|systemctl enable.*)$/gm);
  const isServer = (call: string) => call === "k3s server --disable-agent";
  const [servers, others] = [true, false].map((is) =>
    calls?.map((call) => call.trim()).filter((call) => isServer(call) === is),
  );
  // It runs beside the others.
  expect(servers).toHaveLength(1);
  expect(others).toEqual([
    "k3s server --cluster-reset --cluster-reset-restore-path=etcd-snapshot-control-plane-2.zip",
    "k3s kubectl delete node control-plane --ignore-not-found --wait=false",
    "k3s kubectl --namespace kube-system delete secret control-plane.node-password.k3s --ignore-not-found",
    "systemctl enable --now k3s",
  ]);
});

test("[PN154] a snapshot that cannot be restored fails the machine, and k3s is not started without data", async () => {
  machine.answers = [[200, ANSWER]];
  machine.write("k3s-fails-server", "");
  const given = { snapshot_bucket: BUCKET, restored_snapshot: "etcd-snapshot-control-plane-2.zip" };
  expect(await machine.boot("control-plane", "", given)).toMatchObject({ status: 1 });
  expect(machine.reports.at(-1)).toMatchObject({
    stage: "start",
    status: "failed",
    message: expect.stringContaining("did not restore the snapshot"),
  });
  expect(machine.read("calls")).not.toContain("systemctl");
});

test("[PN68] an agent joins the private address of the control plane, and has no operator", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.json("etc/rancher/k3s/config.yaml")).toEqual({
    "node-name": "agent-1",
    "token-file": "/etc/rancher/k3s/join-token",
    "kubelet-arg": ["cloud-provider=external", "provider-id=aws:///eu-west-1a/i-0123"],
    server: "https://10.64.0.10:6443",
  });
  expect(machine.has("var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml")).toBe(false);
  expect(machine.read("etc/systemd/system/k3s-agent.service")).toContain("k3s agent\n");
});

test("[PN66] no secret is on a command line, in the log, or in a file that others can read", async () => {
  machine.answers = [[200, ANSWER]];
  const { output } = await machine.boot("control-plane");
  const secrets = [...Object.values(SECRETS), "metadata-session"];
  for (const text of [machine.read("calls"), machine.log, output]) {
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  }
  const files = readdirSync(machine.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  // The API server of the test has it, and not the disk of the machine.
  const holders = files
    .map((entry) => join(entry.parentPath, entry.name).slice(machine.root.length + 1))
    .filter((path) => path !== "applied");
  const withSecrets = holders.filter((path) => secrets.some((secret) => machine.read(path).includes(secret)));
  expect(withSecrets.map((path) => [path, machine.mode(path)]).sort()).toEqual([
    ["etc/rancher/k3s/agent-token", "600"],
    ["etc/rancher/k3s/join-token", "600"],
  ]);
});

test("[PN66] a machine asks a Binnacle that cannot answer yet again, after growing waits", async () => {
  machine.answers = [
    [503, {}],
    [429, {}],
    [200, AGENT_ANSWER],
  ];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.requests.filter((request) => request.includes("/node-bootstrap "))).toHaveLength(3);
  expect(machine.read("calls").match(/^sleep \d+/gm)).toEqual(["sleep 2", "sleep 4"]);
});

test("[PN66] a machine does not try a refused token again, and its log says what to do", async () => {
  machine.answers = [[401, { error: "invalid node token" }]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 1 });
  expect(machine.requests.filter((request) => request.includes("/node-bootstrap "))).toHaveLength(1);
  expect(machine.log).toMatch(
    /FAILED: fetch the secrets .*: the token of the node was refused: .* retry the job, which replaces the machine/,
  );
  expect(machine.read("calls")).not.toContain("systemctl");
});

test("[PN67] a k3s whose checksum differs is not installed", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  writeFileSync(join(machine.root, "k3s-download"), "#!/bin/sh\nevil\n");
  expect(await machine.boot("control-plane")).toMatchObject({ status: 1 });
  expect(machine.log).toMatch(
    /FAILED: install k3s v1\.37\.1\+k3s1 .*: k3s has the checksum \w+ instead of \w+; it is not used/,
  );
  expect(machine.has("usr/local/bin/k3s")).toBe(false);
  expect(machine.has("usr/local/bin/.k3s")).toBe(false);
  expect(machine.read("calls")).toMatch(/github\.com\/k3s-io\/k3s\/releases\/download\/v1\.37\.1%2Bk3s1\/k3s /);
});

test("[PN69] a step that fails is named, and a second run goes on with the secrets that it has", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  writeFileSync(join(machine.root, "broken"), "");
  const { status, output } = await machine.boot("control-plane");
  expect(status).toBe(1);
  expect(output).toMatch(/FAILED: start k3s/);
  expect(machine.log).toMatch(/FAILED: start k3s/);
  rmSync(join(machine.root, "broken"));
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  expect(machine.requests.filter((request) => request.includes("/node-bootstrap "))).toHaveLength(1);
  expect(machine.log.trimEnd()).toMatch(/the node is up$/);
});

test("[PN138] each step is reported with the new lines of the log, and the last report says that the node is up", async () => {
  machine.answers = [[200, ANSWER]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  expect(machine.reports.map(({ stage, status }) => `${stage} ${status}`)).toEqual([
    "secrets running",
    "install running",
    "configure running",
    "start running",
    "join running",
    "ready completed",
  ]);
  expect(new Set(machine.reports.map(({ token }) => token))).toEqual(new Set([SECRETS.report]));
  const lines = machine.reports.flatMap((report) => report.lines);
  expect(lines).toEqual(machine.log.trimEnd().split("\n"));
  expect(machine.reports.map(({ first_line }) => first_line)).toEqual([0, 1, 2, 3, 4, 5]);
});

test("[PN138] a step that fails is reported with its cause and the journal of the service, without secrets", async () => {
  machine.answers = [[200, ANSWER]];
  writeFileSync(join(machine.root, "broken"), "");
  writeFileSync(join(machine.root, "journal"), `the port 6443 is taken, ${SECRETS.join}\n`);
  expect(await machine.boot("control-plane")).toMatchObject({ status: 1 });
  expect(machine.reports.at(-1)).toMatchObject({
    stage: "start",
    status: "failed",
    message: "k3s did not start; the log has the last lines of its journal",
    lines: ["the port 6443 is taken, ****", expect.stringContaining("FAILED: start k3s: k3s did not start")],
  });
});

test("[PN138] a machine whose token for secrets is refused reports that with its token for reports", async () => {
  machine.answers = [[401, { detail: "invalid node token" }]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 1 });
  expect(machine.reports.at(-1)).toMatchObject({ stage: "secrets", status: "failed", token: SECRETS.report });
});

test("[PN139] a report that is lost or refused does not stop the bootstrap, and the next one has its lines", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  machine.reportAnswers = [
    [502, {}],
    [401, {}],
  ];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.reports.map(({ first_line, lines }) => [first_line, lines.length])).toEqual([
    [0, 1],
    [0, 2],
    [0, 3],
    [3, 1],
    [4, 1],
    [5, 1],
  ]);
});

test("[PN139] the last report is repeated while Binnacle cannot answer", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  const received = [200, { next_line: 5 }] as const;
  machine.reportAnswers = [received, received, received, received, received, [503, {}], [429, {}]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.reports.filter(({ status }) => status === "completed")).toHaveLength(3);
});

test("[PN139] a long log is reported in parts, and one report says that the node is up", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  mkdirSync(join(machine.root, "var/log"), { recursive: true });
  const earlier = Array.from({ length: 250 }, (_, index) => `line ${index} ${"x".repeat(200)}`);
  writeFileSync(join(machine.root, "var/log/binnacle-bootstrap.log"), `${earlier.join("\n")}\n`);
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.reports.flatMap(({ lines }) => lines).slice(0, 250)).toEqual(earlier);
  const sizes = machine.reports.map((report) => JSON.stringify(report).length);
  expect(Math.max(...sizes)).toBeLessThan(16 * 1024);
  expect(machine.reports.filter(({ status }) => status === "completed")).toHaveLength(1);
});

const shellcheck = optionalTool("shellcheck");
test.runIf(shellcheck)("[PN69] shellcheck finds nothing in the bootstrap script", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(shellcheck ?? "", [SCRIPT], (_error, output) => resolve(output));
  expect(await promise).toBe("");
});
