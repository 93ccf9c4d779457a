import type { CloudAccess, CloudProvider, CloudResource, Diagnostic, WantedCluster } from "../cloud/provider.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { LeaseLost } from "../jobs/job.ts";
import { loadState, type StateOwner, saveState } from "../tofu/infrastructure-state.store.ts";
import type { OpenedState } from "../tofu/state-backend.adapter.ts";
import { isTerraform, runTofu, type TofuEnd } from "../tofu/tofu.adapter.ts";
import { type ReadPlan, readLine, readPlan, readState, storedLines } from "../tofu/tofu-output.ts";
import { machinesToReplace } from "./bootstrap.ts";
import { bootsOf, expectMachines } from "./bootstrap-wait.store.ts";
import { newJoinToken, newNodeToken, newSshKeyPair } from "./cluster-secrets.adapter.ts";
import { operatorSteps } from "./operator-steps.runner.ts";
import type { ProvisionerPorts, ProvisionerSettings, RunControl } from "./provisioning.runner.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import { type RunHold, saveNodeTokens, savePlan, saveSecrets } from "./provisioning-run.store.ts";
import {
  applied,
  decideOrphans,
  INIT,
  initFailure,
  keptDespiteTaint,
  lastWords,
  leavingAgents,
  leftoversFailure,
  nodeNames,
  orphansOf,
  PLAN,
  ProgramKilled,
  RunFailed,
} from "./provisioning-run.ts";
import { makeWorkFolder, type WorkFolder } from "./work-folder.adapter.ts";

type Settings = ProvisionerSettings & { readonly program: string };

interface Run {
  readonly job: ProvisioningJob;
  readonly cluster: Cluster;
  readonly hold: RunHold;
  readonly provider: CloudProvider;
  readonly access: CloudAccess;
}

const MINUTE_MS = 60_000;
const NODE_TOKEN_MS = 120 * MINUTE_MS;
/** In the place of tokens where no machine will be made. */
const NO_TOKEN = "none";

const PLAN_FILE = "binnacle.tfplan";
const VARIABLES_FILE = "binnacle.auto.tfvars.json";
const BACKEND_FILE = "binnacle_backend.tf.json";
const IMPORTS_FILE = "binnacle_imports.tf.json";
const CLI_CONFIG_FILE = "binnacle.tfrc";
const LOCK_FILE = ".terraform.lock.hcl";
/** The registry of Terraform has builds of its own of each plugin, and so other checksums. */
const TERRAFORM_LOCK_FILE = "registry.terraform.io.lock.hcl";
/** OpenTofu leaves its state here when the backend does not take it. */
const ERRORED_STATE = "errored.tfstate";
/** An error of an init is wrapped into several lines. */
const LAST_WORDS = 20;
const COMMON = ["-input=false", "-no-color"];

/** Brings the infrastructure of a cluster to what the job wants. Throws where it does not get there. */
export async function runInfrastructure(
  ports: ProvisionerPorts,
  settings: Settings,
  run: Run,
  control: RunControl,
): Promise<void> {
  const { db, vault, clock } = ports;
  const owner: StateOwner = { clusterId: run.cluster.id, jobId: run.job.id, hold: run.hold };
  const state = await ports.backend.open({
    load: () => loadState(db, vault, owner.clusterId),
    save: (text) => saveState(db, vault, owner, text, clock()),
    onStale: () => control.lose(new LeaseLost("Another worker has claimed the job.")),
  });
  control.hide([state.password]);
  let folder: WorkFolder | null = null;
  try {
    folder = await makeWorkFolder(run.provider.module);
    const steps = createSteps(ports, settings, run, control, { folder, state });
    await steps.prepare();
    await (run.job.action === "destroy" ? steps.destroy() : steps.build());
  } finally {
    // What cannot be stored now is found by its tags in the next run.
    const rescued = folder && !control.kill.aborted ? rescueState(folder) : null;
    await rescued?.catch((error: unknown) => ports.log.warn({ err: error }, "a state of OpenTofu could not be stored"));
    await state.close();
    await folder?.remove();
  }

  async function rescueState({ read }: WorkFolder): Promise<void> {
    const text = await read(ERRORED_STATE);
    if (text !== null) await saveState(db, vault, owner, text, clock());
  }
}

function createSteps(
  ports: ProvisionerPorts,
  settings: Settings,
  { job, cluster, hold, provider, access }: Run,
  control: RunControl,
  { folder, state }: { readonly folder: WorkFolder; readonly state: OpenedState },
) {
  const { db, vault, clock } = ports;
  const { log } = control;
  const stopped = AbortSignal.any([control.interrupt, control.kill]);
  const isDestroy = job.action === "destroy";
  /** Of the tokens that this run gives to new machines. */
  let runHashes: readonly string[] = [];
  const agentCount = job.desired_node_count === null ? (cluster.agent_count ?? 0) : job.desired_node_count - 1;
  const nodes = nodeNames(agentCount);
  const env = {
    ...settings.network,
    PATH: settings.searchPath,
    HOME: folder.path,
    TMPDIR: folder.path,
    TF_IN_AUTOMATION: "1",
    TF_INPUT: "0",
    CHECKPOINT_DISABLE: "1",
    TF_CLI_CONFIG_FILE: settings.cliConfigFile ?? `${folder.path}/${CLI_CONFIG_FILE}`,
    ...(settings.pluginCacheFolder ? { TF_PLUGIN_CACHE_DIR: settings.pluginCacheFolder } : {}),
    ...provider.environment(access),
    ...state.env,
  };

  /** Names of the cloud and words of operators are in it, and so cleaned like the output of OpenTofu. */
  const say = (text: string) => log.write(storedLines(control.mask(text)));
  const operator = operatorSteps(ports.operators, cluster, say, stopped);

  async function tofu(
    args: readonly string[],
    more: { collects?: boolean; onStep?: () => void } = {},
  ): Promise<TofuEnd> {
    stopped.throwIfAborted();
    const errors: Diagnostic[] = [];
    const words: string[] = [];
    const end = await runTofu({
      binary: settings.program,
      args,
      folder: folder.path,
      env,
      collects: more.collects ?? false,
      interrupt: control.interrupt,
      kill: control.kill,
      graceMs: settings.graceMs,
      onLines(printed) {
        const read = printed.map((line) => readLine(line, control.mask));
        for (const { error, isStep } of read) {
          if (error) errors.push(error);
          if (isStep) more.onStep?.();
        }
        const lines = read.flatMap((line) => line.lines);
        words.splice(0, words.length, ...[...words, ...lines].slice(-LAST_WORDS));
        return log.write(lines);
      },
    });
    stopped.throwIfAborted();
    if (end.code === 0) return end;
    if (end.code === null) throw new ProgramKilled("OpenTofu was killed from outside.");
    const told = errors.length > 0 ? errors : [lastWords(words)];
    throw new RunFailed(args[0] === "init" ? initFailure(words) : provider.failureOf(told));
  }

  async function plan(replaced: readonly string[] = []): Promise<ReadPlan> {
    const flags = isDestroy ? ["-destroy"] : replaced.map((node) => `-replace=${provider.machineAddress(node)}`);
    await tofu(["plan", "-json", ...COMMON, `-out=${PLAN_FILE}`, ...flags]);
    const shown = await tofu(["show", "-json", "-no-color", PLAN_FILE], { collects: true });
    return readPlan(shown.output);
  }

  async function store({ summary, changes }: ReadPlan): Promise<void> {
    const { region, instanceType, diskSizeGb } = machines();
    const estimate = isDestroy ? null : provider.estimate({ region, instanceType, diskSizeGb, agentCount });
    const stored = { planned_at: clock().toISOString(), summary, changes, estimate };
    const isNew = (node: string) =>
      changes.some(
        ({ address, action }) => address === provider.machineAddress(node) && ["create", "replace"].includes(action),
      );
    await savePlan(db, hold, job.id, stored, PLAN, async (tx) => {
      if (isDestroy || job.dry_run) return;
      await expectMachines(tx, job, { made: nodes.filter(isNew), wanted: nodes, hashes: runHashes }, clock());
    });
  }

  async function apply({ steps }: ReadPlan): Promise<void> {
    let ended = 0;
    log.report(applied(0, steps));
    await tofu(["apply", "-json", ...COMMON, PLAN_FILE], {
      onStep: () => log.report(applied(++ended, steps)),
    });
  }

  /** What the cloud has, and what the newest state knows. */
  async function survey() {
    const existing = await provider.existing(access, cluster.id, stopped);
    const text = await loadState(db, vault, cluster.id);
    return { existing, known: text === null ? null : readState(text) };
  }

  /** What the cloud has and the newest state does not know of. */
  async function orphans(): Promise<CloudResource[]> {
    const { existing, known } = await survey();
    return orphansOf(existing, known, isDestroy);
  }

  async function remove(resources: readonly CloudResource[]): Promise<void> {
    if (resources.length === 0) return;
    for (const { type, id } of resources) await say(`${type} ${id} exists and belongs to nothing: it is removed.`);
    await provider.remove(access, resources, stopped);
  }

  const machines = () => ({
    region: access.region,
    instanceType: cluster.instance_type ?? "",
    diskSizeGb: cluster.disk_size_gb ?? 0,
  });

  async function secrets(): Promise<{ readonly sshPublicKey: string }> {
    if (cluster.ssh_public_key !== null) return { sshPublicKey: cluster.ssh_public_key };
    const { publicKey, privateKey } = newSshKeyPair(`binnacle-${cluster.id}`);
    const sealed = (column: string, value: string) => vault.seal(value, { table: "clusters", row: cluster.id, column });
    await saveSecrets(db, hold, cluster.id, {
      ssh_public_key: publicKey,
      sealed_ssh_key: sealed("sealed_ssh_key", privateKey),
      sealed_join_token: sealed("sealed_join_token", newJoinToken()),
    });
    return { sshPublicKey: publicKey };
  }

  /** A machine that exists never uses its new tokens, and those of earlier runs stay valid until they expire. */
  async function tokens(): Promise<Pick<WantedCluster, "nodeTokens" | "reportTokens">> {
    if (isDestroy || job.dry_run) {
      const none = Object.fromEntries(nodes.map((node) => [node, NO_TOKEN]));
      return { nodeTokens: none, reportTokens: none };
    }
    const now = clock();
    const made = (purpose: "bootstrap" | "report", lifetimeMs: number) =>
      nodes.map((node) => ({ node, purpose, ...newNodeToken(), expiresAt: new Date(now.getTime() + lifetimeMs) }));
    const bootstrap = made("bootstrap", NODE_TOKEN_MS);
    // The machines are made at the end of the apply at the latest, and have until the deadline from then on.
    const report = made("report", (settings.timeoutMinutes + settings.bootstrapMinutes) * MINUTE_MS);
    const all = [...bootstrap, ...report];
    await saveNodeTokens(db, hold, job, all, now);
    control.hide(all.map(({ token }) => token));
    runHashes = all.map(({ hash }) => hash);
    const byNode = (some: typeof all) => Object.fromEntries(some.map(({ node, token }) => [node, token]));
    return { nodeTokens: byNode(bootstrap), reportTokens: byNode(report) };
  }

  /** The machines of an earlier run that never became nodes, and never will with the tokens that they have. */
  async function brokenMachines(): Promise<string[]> {
    const broken = machinesToReplace(await bootsOf(db, cluster.id), nodes, cluster.first_connected_at !== null);
    for (const node of broken) await say(`The machine ${node} has not become a node: it is replaced.`);
    return broken;
  }

  return {
    async prepare(): Promise<void> {
      log.report(INIT);
      const wanted: WantedCluster = {
        id: cluster.id,
        jobId: job.id,
        name: cluster.name,
        agentCount,
        ...machines(),
        ...(await secrets()),
        ...(await tokens()),
        publicUrl: settings.publicUrl,
        adminRanges: settings.adminRanges,
      };
      await folder.write(VARIABLES_FILE, JSON.stringify(provider.variables(wanted)));
      await folder.write(BACKEND_FILE, JSON.stringify({ terraform: { backend: { http: {} } } }));
      await folder.write(CLI_CONFIG_FILE, "");
      const lock = isTerraform(settings.program) ? await folder.read(TERRAFORM_LOCK_FILE) : null;
      if (lock !== null) await folder.write(LOCK_FILE, lock);
      await tofu(["init", "-lockfile=readonly", ...COMMON]);
    },

    async build(): Promise<void> {
      const { existing, known } = await survey();
      const found = orphansOf(existing, known, isDestroy);
      for (const address of keptDespiteTaint(existing, known)) await tofu(["untaint", "-no-color", address]);
      log.report(PLAN);
      const replaced = await brokenMachines();
      let planned = await plan(replaced);
      const { imported, removed } = decideOrphans(found, planned);
      if (!job.dry_run) {
        await operator.drain(leavingAgents(planned, removed));
        await remove(removed);
      }
      if (found.length > 0) {
        for (const { to, id } of imported) await say(`${to} exists already as ${id}: it is imported.`);
        await folder.write(IMPORTS_FILE, JSON.stringify({ import: imported }));
        planned = await plan(replaced);
      }
      await store(planned);
      if (job.dry_run) return;
      await apply(planned);
      // A resource that was replaced may have left its predecessor.
      await remove(await orphans());
    },

    async destroy(): Promise<void> {
      if (!job.dry_run) {
        await operator.removeCloudObjects();
        await remove(await orphans());
      }
      log.report(PLAN);
      const planned = await plan();
      await store(planned);
      if (job.dry_run) return;
      await apply(planned);
      const left = await provider.existing(access, cluster.id, stopped);
      if (left.length === 0) return;
      await remove(left);
      const stillLeft = await provider.existing(access, cluster.id, stopped);
      if (stillLeft.length > 0) throw new RunFailed(leftoversFailure(stillLeft));
    },
  };
}
