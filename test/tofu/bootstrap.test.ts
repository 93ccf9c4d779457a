import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Machine, OPERATOR, SCRIPT, SECRETS } from "./machine.ts";
import { optionalTool } from "./tools.ts";

let machine: Machine;
beforeEach(async () => {
  machine = new Machine();
  await machine.start();
});
afterEach(() => machine.stop());

test("[PN68] the control plane gets its secrets, starts k3s, and has the operator's chart", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: OPERATOR }]];
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
    disable: ["servicelb", "traefik"],
    "secrets-encryption": true,
    "write-kubeconfig-mode": "0600",
    "tls-san": ["198.51.100.7"],
  });
  expect(machine.read("etc/rancher/k3s/join-token")).toBe(`${SECRETS.join}\n`);
  const chart = machine.json("var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml");
  expect(chart.spec).toMatchObject({
    chart: OPERATOR.chart_url,
    targetNamespace: "binnacle-system",
    createNamespace: true,
  });
  expect(JSON.parse(chart.spec.valuesContent)).toEqual({
    hub: { url: OPERATOR.hub_url },
    cluster: { id: OPERATOR.cluster_id, token: SECRETS.agent },
    rbac: { infrastructure: true },
  });
  expect(machine.read("etc/systemd/system/k3s.service")).toMatch(
    /Type=notify[\s\S]*ExecStart=\/usr\/local\/bin\/k3s server\n/,
  );
  expect(machine.log.trimEnd()).toMatch(/the node is up$/);
});

test("[PN68] an agent joins the private address of the control plane, and has no operator", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
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
  machine.answers = [[200, { join_token: SECRETS.join, operator: OPERATOR }]];
  const { output } = await machine.boot("control-plane");
  const secrets = [...Object.values(SECRETS), "metadata-session"];
  for (const text of [machine.read("calls"), machine.log, output]) {
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  }
  const files = readdirSync(machine.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const holders = files.map((entry) => join(entry.parentPath, entry.name).slice(machine.root.length + 1));
  const withSecrets = holders.filter((path) => secrets.some((secret) => machine.read(path).includes(secret)));
  expect(withSecrets.map((path) => [path, machine.mode(path)]).sort()).toEqual([
    ["etc/rancher/k3s/join-token", "600"],
    ["var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml", "600"],
  ]);
});

test("[PN66] a Binnacle that cannot answer yet is asked again, after longer and longer waits", async () => {
  machine.answers = [
    [503, {}],
    [429, {}],
    [200, { join_token: SECRETS.join, operator: null }],
  ];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.requests.filter((request) => request.includes("/node-bootstrap "))).toHaveLength(3);
  expect(machine.read("calls").match(/^sleep \d+/gm)).toEqual(["sleep 2", "sleep 4"]);
});

test("[PN66] a refused token is not tried again, and the log says what to do", async () => {
  machine.answers = [[401, { error: "invalid node token" }]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 1 });
  expect(machine.requests.filter((request) => request.includes("/node-bootstrap "))).toHaveLength(1);
  expect(machine.log).toMatch(
    /FAILED: fetch the secrets .*: the token of the node was refused: .* retry the job, which replaces the machine/,
  );
  expect(machine.read("calls")).not.toContain("systemctl");
});

test("[PN67] a k3s with another checksum is not installed", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
  writeFileSync(join(machine.root, "k3s-download"), "#!/bin/sh\nevil\n");
  expect(await machine.boot("control-plane")).toMatchObject({ status: 1 });
  expect(machine.log).toMatch(
    /FAILED: install k3s v1\.37\.1\+k3s1 .*: k3s has the checksum \w+ instead of \w+; it is not used/,
  );
  expect(machine.has("usr/local/bin/k3s")).toBe(false);
  expect(machine.has("usr/local/bin/.k3s")).toBe(false);
  expect(machine.read("calls")).toMatch(/github\.com\/k3s-io\/k3s\/releases\/download\/v1\.37\.1%2Bk3s1\/k3s /);
});

test("[PN69] a step that fails is named, and a second run goes on with the secrets it has", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
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
  machine.answers = [[200, { join_token: SECRETS.join, operator: OPERATOR }]];
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
  machine.answers = [[200, { join_token: SECRETS.join, operator: OPERATOR }]];
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

test("[PN138] a refused token for secrets is reported with the token for reports", async () => {
  machine.answers = [[401, { detail: "invalid node token" }]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 1 });
  expect(machine.reports.at(-1)).toMatchObject({ stage: "secrets", status: "failed", token: SECRETS.report });
});

test("[PN139] a report that is lost or refused stops nothing, and the next one has its lines", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
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
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
  const received = [200, { next_line: 5 }] as const;
  machine.reportAnswers = [received, received, received, received, received, [503, {}], [429, {}]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 0 });
  expect(machine.reports.filter(({ status }) => status === "completed")).toHaveLength(3);
});

test("[PN139] a long log is reported in parts, and the end with the last of them", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: null }]];
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
test.runIf(shellcheck)("[PN69] shellcheck finds nothing in the script", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(shellcheck ?? "", [SCRIPT], (_error, output) => resolve(output));
  expect(await promise).toBe("");
});
