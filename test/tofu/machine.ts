import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const SCRIPT = new URL("../../deploy/tofu/aws-k3s/bootstrap.sh", import.meta.url).pathname;
export const SECRETS = {
  node: "node-token-7h2k",
  report: "report-token-2c6v",
  join: "join-token-9d3m",
  agents: "agents-token-6w1x",
  agent: "agent-token-4f8s",
};
export const OPERATOR = {
  chart_url: "https://binnacle.example/charts/binnacle-operator-0.1.0.tgz",
  hub_url: "wss://binnacle.example/hub/v1",
  hub_proxy: null as string | null,
  cluster_id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b",
  token: SECRETS.agent,
  namespace: "binnacle-system",
  image: { registry: "binnacle.example", digest: `sha256:${"a".repeat(64)}` },
};
const NO_EGRESS = { ca_certificates: null, registries: null };
export const ANSWER = { join_token: SECRETS.join, agent_token: SECRETS.agents, ...NO_EGRESS, operator: OPERATOR };
export const AGENT_ANSWER = { join_token: SECRETS.join, agent_token: null, ...NO_EGRESS, operator: null };

type Answer = readonly [status: number, body: unknown];

/** A report as the machine has sent it. */
export interface SentReport {
  readonly token: string;
  readonly stage: string;
  readonly status: string;
  readonly message?: string;
  readonly first_line: number;
  readonly lines: readonly string[];
}

/** A machine: a folder as its root, Binnacle and the metadata service over HTTP, and stubs of what needs a real machine. */
export class Machine {
  readonly root = mkdtempSync(join(tmpdir(), "machine-"));
  readonly stubs = join(this.root, "stubs");
  readonly requests: string[] = [];
  /** The hosts of the requests that came to this server as to a proxy. */
  readonly proxied: string[] = [];
  answers: Answer[] = [];
  readonly reports: SentReport[] = [];
  /** The answers to reports; each further one is received. */
  reportAnswers: Answer[] = [];
  /** The program that the machine downloads as k3s: it writes its command line down, and what it is to apply. */
  readonly #k3s = [
    "#!/bin/sh",
    `echo k3s "$@" >>${this.root}/calls`,
    `[ ! -e "${this.root}/k3s-fails-$1" ] || exit 1`,
    `case "$*" in *apply*) for file; do :; done; cat "$file" >${this.root}/applied;; esac`,
    "",
  ].join("\n");
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    mkdirSync(this.stubs);
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    writeFileSync(join(this.root, "k3s-download"), this.#k3s);
    const calls = join(this.root, "calls");
    // Every program that the script starts writes its command line down first.
    this.#stub(
      "curl",
      `case "$*" in *k3s-airgap*) file=images-download;; *) file=k3s-download;; esac
       case "$*" in *github.com*|*mirror.example*) while [ $# -gt 0 ]; do [ "$1" != --output ] || cp ${this.root}/$file "$2"; shift; done; printf 200; exit 0;; esac`,
      "curl",
    );
    this.#stub("python3", "", "python3");
    this.#stub("sleep", "exit 0");
    this.#stub("uname", "echo x86_64; exit 0");
    this.#stub(
      "systemctl",
      `mkdir -p ${this.root}/etc/rancher/k3s ${this.root}/var/lib/rancher/k3s/agent
       case "$*" in *enable*k3s-agent) echo x >${this.root}/var/lib/rancher/k3s/agent/kubelet.kubeconfig;; *enable*) echo x >${this.root}/etc/rancher/k3s/k3s.yaml;; esac
       case "$*" in *enable*) [ ! -e ${this.root}/broken ] || exit 1;; esac; exit 0`,
    );
    this.#stub("update-ca-certificates", `[ ! -e ${this.root}/refuses-authorities ]; exit $?`);
    this.#stub("journalctl", `cat ${this.root}/journal; exit 0`);
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
    // To a proxy a whole address is sent.
    const { pathname: path, host } = new URL(request.url ?? "", "http://machine");
    if (host !== "machine") this.proxied.push(host);
    this.requests.push(`${request.method} ${path} ${body}`);
    if (path === "/api/v1/node-bootstrap") {
      const [status, answer] = this.answers.shift() ?? [500, {}];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    } else if (path === "/api/v1/node-reports") {
      const sent = JSON.parse(body) as SentReport;
      this.reports.push(sent);
      const received = { next_line: sent.first_line + sent.lines.length };
      const [status, answer] = this.reportAnswers.shift() ?? [200, received];
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

  /** Where Binnacle, the metadata service and a proxy answer. */
  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Runs the script as cloud-init does; `given` is what user data has of a machine that a worker has made. */
  async boot(node: string, server = "", given: object = {}): Promise<{ status: number; output: string }> {
    const settings = {
      public_url: this.address,
      cluster_id: OPERATOR.cluster_id,
      k3s_version: "v1.37.1+k3s1",
      node,
      token: SECRETS.node,
      report_token: SECRETS.report,
      server,
      ...given,
      k3s_sha256: { x86_64: createHash("sha256").update(this.#k3s).digest("hex") },
    };
    mkdirSync(join(this.root, "etc/binnacle"), { recursive: true });
    writeFileSync(join(this.root, "etc/binnacle/node.json"), JSON.stringify(settings), { mode: 0o600 });
    const env = {
      PATH: `${this.stubs}:${process.env["PATH"]}`,
      BINNACLE_ROOT: this.root,
      BINNACLE_METADATA: this.address,
    };
    return new Promise((resolve) => {
      execFile("bash", [SCRIPT], { env }, (error, output) =>
        resolve({ status: error ? Number(error.code) : 0, output }),
      );
    });
  }

  readonly write = (path: string, content: string) => writeFileSync(join(this.root, path), content);

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
