import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { awsProvider } from "../../packages/server/src/cloud/aws/aws.adapter.ts";
import type { AwsCluster } from "../../packages/server/src/cloud/aws/aws.ts";
import { KUBERNETES } from "../../packages/server/src/cloud/kubernetes-release.ts";
import type { CloudAccess, CloudProvider, WantedCluster } from "../../packages/server/src/cloud/provider.ts";
import { requiredTools } from "./tools.ts";

const run = promisify(execFile);
const PLATFORM = `linux_${arch() === "arm64" ? "arm64" : "amd64"}`;
/** The version that the module pins. The plugin that the tests build is of 6.47.1, and goes by this name. */
const RELEASE = "6.49.0";

export const REPORT_TOKENS = { "control-plane": "report-control-plane", "agent-1": "report-agent-1" };
export const TOKENS = {
  "control-plane": "token-of-control-plane",
  "agent-1": "token-of-agent-1",
  "agent-2": "token-of-agent-2",
};

export const wantedCluster = (changes: Partial<AwsCluster> = {}): AwsCluster => ({
  id: randomUUID(),
  jobId: randomUUID(),
  name: "prod",
  region: "eu-west-1",
  instanceType: "t3.large",
  diskSizeGb: 50,
  agentCount: 1,
  sshPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS ops",
  nodeTokens: TOKENS,
  reportTokens: REPORT_TOKENS,
  publicUrl: "https://binnacle.example",
  adminRanges: ["203.0.113.0/24"],
  kubernetes: KUBERNETES,
  snapshotBucket: null,
  restoredSnapshot: null,
  permissionsBoundary: null,
  egress: null,
  ...changes,
});

export interface Change {
  readonly address: string;
  readonly actions: readonly string[];
  readonly importing: boolean;
}

/** Installs the built provider as if it came from the registry of OpenTofu, or of Terraform. */
export function writeMirror(folder: string): string {
  for (const registry of ["registry.opentofu.org", "registry.terraform.io"]) {
    const at = join(folder, "mirror", registry, "hashicorp", "aws", RELEASE, PLATFORM);
    mkdirSync(at, { recursive: true });
    symlinkSync(requiredTools().provider, join(at, `terraform-provider-aws_v${RELEASE}`));
  }
  const file = join(folder, "tofu.rc");
  writeFileSync(
    file,
    `provider_installation {\n  filesystem_mirror {\n    path = "${join(folder, "mirror")}"\n  }\n}\n`,
  );
  return file;
}

/** A copy of the module that pins the plugin of the tests, which is another build than those of the registries. */
export async function moduleForTests(folder: string): Promise<string> {
  const module = join(folder, "module");
  cpSync(awsProvider().module, module, { recursive: true });
  rmSync(join(module, ".terraform.lock.hcl"));
  const mirror = `-fs-mirror=${join(folder, "mirror")}`;
  const env = { PATH: process.env["PATH"], HOME: folder };
  await run(requiredTools().tofu, ["providers", "lock", mirror, `-platform=${PLATFORM}`], { cwd: module, env });
  return module;
}

/** A copy of the module with a state of its own, against a cloud. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), "tofu-"));
  readonly #environment: NodeJS.ProcessEnv;
  readonly #provider: CloudProvider;

  constructor(provider: CloudProvider, access: CloudAccess) {
    this.#provider = provider;
    cpSync(provider.module, this.folder, { recursive: true });
    // The plugin of the tests is another build than those of the registries.
    rmSync(join(this.folder, ".terraform.lock.hcl"));
    this.#environment = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      TF_IN_AUTOMATION: "1",
      TF_CLI_CONFIG_FILE: writeMirror(this.folder),
      ...provider.environment(access),
    };
  }

  async tofu(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(requiredTools().tofu, args, {
      cwd: this.folder,
      env: this.#environment,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  async init(): Promise<void> {
    await this.tofu("init", "-input=false", "-no-color");
  }

  #write(wanted: WantedCluster): void {
    writeFileSync(join(this.folder, "binnacle.auto.tfvars.json"), JSON.stringify(this.#provider.variables(wanted)));
  }

  /** Writes import blocks, as for resources that no state knows. */
  import(resources: readonly { readonly address: string | null; readonly id: string }[]): void {
    const blocks = resources.map(({ address, id }) => ({ to: address, id }));
    writeFileSync(join(this.folder, "imports.tf.json"), JSON.stringify({ import: blocks }));
  }

  forget(): void {
    rmSync(join(this.folder, "terraform.tfstate"), { force: true });
    rmSync(join(this.folder, "terraform.tfstate.backup"), { force: true });
  }

  /** What an apply would change. */
  async plan(wanted: WantedCluster, ...flags: readonly string[]): Promise<readonly Change[]> {
    this.#write(wanted);
    await this.tofu("plan", "-input=false", "-no-color", "-out=plan", ...flags);
    const plan = JSON.parse(await this.tofu("show", "-json", "plan"));
    return (plan.resource_changes ?? [])
      .map((one: { address: string; change: { actions: string[]; importing?: unknown } }) => ({
        address: one.address,
        actions: one.change.actions,
        importing: one.change.importing !== undefined,
      }))
      .filter((one: Change) => one.importing || !["no-op", "read"].includes(one.actions.join()));
  }

  async apply(): Promise<void> {
    await this.tofu("apply", "-input=false", "-no-color", "plan");
  }

  async create(wanted: WantedCluster): Promise<readonly Change[]> {
    const changes = await this.plan(wanted);
    await this.apply();
    return changes;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
