import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { optionalTool } from "./tools.ts";

const SCRIPT = new URL("../../deploy/tofu/aws-k3s/bootstrap.sh", import.meta.url).pathname;
const SECRETS = { node: "node-token-7h2k", join: "join-token-9d3m", agent: "agent-token-4f8s" };
const OPERATOR = {
  chart_url: "https://binnacle.example/charts/binnacle-operator-0.1.0.tgz",
  hub_url: "wss://binnacle.example/hub/v1",
  cluster_id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b",
  token: SECRETS.agent,
  namespace: "binnacle-system",
};
const K3S = "#!/bin/sh\n";
const K3S_DIGEST = createHash("sha256").update(K3S).digest("hex");

type Answer = readonly [status: number, body: unknown];

/** A machine: a folder as its root, Binnacle and the metadata service over HTTP, and stubs of what needs a real machine. */
class Machine {
  readonly root = mkdtempSync(join(tmpdir(), "machine-"));
  readonly stubs = join(this.root, "stubs");
  readonly requests: string[] = [];
  answers: Answer[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    mkdirSync(this.stubs);
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    writeFileSync(join(this.root, "k3s-download"), K3S);
    const calls = join(this.root, "calls");
    // Every program that the script starts writes its command line down first.
    this.#stub(
      "curl",
      `case "$*" in *github.com*) while [ $# -gt 0 ]; do [ "$1" != --output ] || cp ${this.root}/k3s-download "$2"; shift; done; printf 200; exit 0;; esac`,
      "curl",
    );
    this.#stub("python3", "", "python3");
    this.#stub("sleep", "exit 0");
    this.#stub("uname", "echo x86_64; exit 0");
    this.#stub(
      "systemctl",
      `mkdir -p ${this.root}/etc/rancher/k3s ${this.root}/var/lib/rancher/k3s/agent
       case "$*" in *enable*k3s-agent) echo x >${this.root}/var/lib/rancher/k3s/agent/kubelet.kubeconfig;; *enable*) echo x >${this.root}/etc/rancher/k3s/k3s.yaml;; esac
       [ ! -e ${this.root}/broken ] || exit 1; exit 0`,
    );
    writeFileSync(calls, "");
  }

  #stub(name: string, body: string, real?: string): void {
    const rest = real ? `PATH=\${PATH#*:} exec ${real} "$@"` : "";
    const file = join(this.stubs, name);
    writeFileSync(
      file,
      `#!/bin/sh\nprintf '%s ' ${name} "$@" >>${this.root}/calls; echo >>${this.root}/calls\n${body}\n${rest}\n`,
    );
    chmodSync(file, 0o755);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join("");
    const path = request.url ?? "";
    this.requests.push(`${request.method} ${path} ${body}`);
    if (path === "/api/v1/node-bootstrap") {
      const [status, answer] = this.answers.shift() ?? [500, {}];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    } else if (path === "/latest/api/token") {
      response.end("metadata-session");
    } else if (request.headers["x-aws-ec2-metadata-token"] !== "metadata-session") {
      response.writeHead(401).end();
    } else {
      const facts: Record<string, string> = {
        "/latest/meta-data/placement/availability-zone": "eu-west-1a",
        "/latest/meta-data/instance-id": "i-0123",
        "/latest/meta-data/public-ipv4": "198.51.100.7",
      };
      response.writeHead(facts[path] ? 200 : 404).end(facts[path]);
    }
  }

  /** Runs the script as cloud-init does. */
  async boot(node: string, server = ""): Promise<{ status: number; output: string }> {
    const { port } = this.#server.address() as AddressInfo;
    const settings = {
      public_url: `http://127.0.0.1:${port}`,
      cluster_id: OPERATOR.cluster_id,
      k3s_version: "v1.37.1+k3s1",
      k3s_sha256: { x86_64: K3S_DIGEST },
      node,
      token: SECRETS.node,
      server,
    };
    mkdirSync(join(this.root, "etc/binnacle"), { recursive: true });
    writeFileSync(join(this.root, "etc/binnacle/node.json"), JSON.stringify(settings), { mode: 0o600 });
    const env = {
      PATH: `${this.stubs}:${process.env["PATH"]}`,
      BINNACLE_ROOT: this.root,
      BINNACLE_METADATA: `http://127.0.0.1:${port}`,
    };
    return new Promise((resolve) => {
      execFile("bash", [SCRIPT], { env }, (error, output) =>
        resolve({ status: error ? Number(error.code) : 0, output }),
      );
    });
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }
  json(path: string) {
    return JSON.parse(this.read(path));
  }
  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }
  mode(path: string): string {
    return (statSync(join(this.root, path)).mode & 0o777).toString(8);
  }
  get log(): string {
    return this.read("var/log/binnacle-bootstrap.log");
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    rmSync(this.root, { recursive: true, force: true });
  }
}

let machine: Machine;
beforeEach(async () => {
  machine = new Machine();
  await machine.start();
});
afterEach(() => machine.stop());

test("[PN68] the control plane gets its secrets, starts k3s, and has the operator's chart", async () => {
  machine.answers = [[200, { join_token: SECRETS.join, operator: OPERATOR }]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  const sent = machine.requests.find((request) => request.includes("node-bootstrap"));
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
  expect(machine.requests.filter((request) => request.includes("node-bootstrap"))).toHaveLength(3);
  expect(machine.read("calls").match(/^sleep \d+/gm)).toEqual(["sleep 2", "sleep 4"]);
});

test("[PN66] a refused token is not tried again, and the log says what to do", async () => {
  machine.answers = [[401, { error: "invalid node token" }]];
  expect(await machine.boot("agent-1", "https://10.64.0.10:6443")).toMatchObject({ status: 1 });
  expect(machine.requests.filter((request) => request.includes("node-bootstrap"))).toHaveLength(1);
  expect(machine.log).toMatch(/FAILED: fetch the secrets .*: the token of the node was refused: .* retry the job/);
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
  expect(machine.requests.filter((request) => request.includes("node-bootstrap"))).toHaveLength(1);
  expect(machine.log.trimEnd()).toMatch(/the node is up$/);
});

const shellcheck = optionalTool("shellcheck");
test.runIf(shellcheck)("[PN69] shellcheck finds nothing in the script", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(shellcheck ?? "", [SCRIPT], (_error, output) => resolve(output));
  expect(await promise).toBe("");
});
