import { chmod, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { awsProvider } from "../../packages/server/src/cloud/aws/aws.adapter.ts";
import type { Queries } from "../../packages/server/src/database/transaction.ts";
import { startWorker, type Worker } from "../../packages/server/src/jobs/worker.runner.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { addJob, handlerFor, newCluster, recordOf, settingsFor, silent, tofuForTests } from "./stage.ts";

const SOON = { timeout: 120_000, interval: 50 };
const program = tofuForTests();
// Nothing answers there: whatever fails has not asked the cloud.
const aws = awsProvider({ endpoint: "http://127.0.0.1:1" });

let fresh: FreshDatabase;
let db: Queries;
let worker: Worker | null = null;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
});
afterEach(() => worker?.stop(0));
afterAll(() => fresh?.drop());

/** Runs a creation with a CLI configuration of OpenTofu, and returns how it has failed. */
async function failureWith(installation: string) {
  const cliConfigFile = join(await mkdtemp(join(tmpdir(), "init-")), "tofu.rc");
  await writeFile(cliConfigFile, `provider_installation {\n${installation}\n}\n`);
  const bus = createMemoryBus(silent);
  const handler = handlerFor({ db, bus, provider: aws, settings: { ...settingsFor(program), cliConfigFile } });
  worker = startWorker({ db, bus, log: silent, handlers: { provisioning: handler }, pollMs: 50 });
  const job = await addJob(db, await newCluster(db, 0), "create", 1);
  return vi.waitFor(async () => {
    const record = await recordOf(db, job);
    expect(record).toMatchObject({ status: "failed" });
    return record;
  }, SOON);
}

const versionOf = (text: string) => /version\s*= "([\d.]+)"/.exec(text)?.[1];

test("[PN146] the module names one version of its plugin, and both registries have a checksum of it for each platform", async () => {
  const read = (name: string) => readFile(join(aws.module, name), "utf8");
  const wanted = versionOf(await read("versions.tf"));
  for (const [file, registry] of [
    [".terraform.lock.hcl", "registry.opentofu.org"],
    ["registry.terraform.io.lock.hcl", "registry.terraform.io"],
  ] as const) {
    const lock = await read(file);
    expect([versionOf(lock), lock.match(/^provider "(.*)"/m)?.[1]]).toEqual([wanted, `${registry}/hashicorp/aws`]);
    expect(new Set(lock.match(/"zh:[0-9a-f]{64}"/g)).size).toBe(15);
  }
});

describe.skipIf(!program)("an init", () => {
  test("[PN146] an init does not use a plugin with another checksum than the one that Binnacle was released with", async () => {
    const mirror = await mkdtemp(join(tmpdir(), "mirror-"));
    const version = versionOf(await readFile(join(aws.module, "versions.tf"), "utf8"));
    for (const registry of ["registry.opentofu.org", "registry.terraform.io"]) {
      const platform = `linux_${arch() === "arm64" ? "arm64" : "amd64"}`;
      const folder = join(mirror, registry, "hashicorp", "aws", version ?? "", platform);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `terraform-provider-aws_v${version}`), "#!/bin/sh\ntouch hostile\n");
      await chmod(join(folder, `terraform-provider-aws_v${version}`), 0o755);
    }
    expect(await failureWith(`filesystem_mirror { path = "${mirror}" }`)).toMatchObject({
      phase: "init",
      error_code: "init_failed",
      error_message: expect.stringContaining("is not the one that Binnacle was released with"),
    });
  });

  test("[PN143] an init whose registry cannot be reached is not reported as a failure of the cloud", async () => {
    expect(await failureWith(`network_mirror { url = "https://127.0.0.1:1/" }`)).toMatchObject({
      phase: "init",
      error_code: "init_failed",
      error_message: expect.stringContaining(
        "could not be fetched from its registry. The cloud was not asked for anything yet.",
      ),
    });
  });
});
