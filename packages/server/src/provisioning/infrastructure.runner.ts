import type { CloudAccess, CloudProvider, CloudResource, Diagnostic, WantedCluster } from "../cloud/provider.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { LeaseLost } from "../jobs/job.ts";
import { loadState, type StateOwner, saveState } from "../tofu/infrastructure-state.store.ts";
import type { OpenedState } from "../tofu/state-backend.adapter.ts";
import { isTerraform, runTofu, type TofuEnd } from "../tofu/tofu.adapter.ts";
import { type ReadPlan, readLine, readPlan, readState, storedLines } from "../tofu/tofu-output.ts";
import { machinesToReplace } from "./bootstrap.ts";
import { bootsOf, expectMachines } from "./bootstrap-wait.store.ts";
import { boundPlanProblem, type Decided, planDigest, unseenProblem } from "./bound-plan.ts";
import { machinesMadeWith, snapshotToRestore } from "./cluster-machines.runner.ts";
import { newNodeToken } from "./cluster-secrets.adapter.ts";
import { build, destroy, type Steps } from "./infrastructure-change.runner.ts";
import { isFresh, NO_FRESH_SNAPSHOT, snapshotWaitMs } from "./kubernetes-upgrade.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";
import { operatorSteps } from "./operator-steps.runner.ts";
import type { ProvisionerPorts, ProvisionerSettings, RunControl } from "./provisioning.runner.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import {
  boundPlan,
  confirmPlan,
  type RunHold,
  saveNodeTokens,
  savePlan,
  saveReplacedMachine,
} from "./provisioning-run.store.ts";
import {
  applied,
  INIT,
  initFailure,
  isRestore,
  isToBeReplaced,
  lastLinesOf,
  nodeNames,
  PLAN,
  ProgramKilled,
  RunFailed,
  RunWaits,
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
const LAST_LINES = 20;
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
    const wanted = { ...run, controlPlane: run.provider.machineAddress(CONTROL_PLANE_NODE) };
    await (run.job.action === "destroy" ? destroy(wanted, steps) : build(wanted, steps));
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
): Steps & { prepare(): Promise<void> } {
  const { db, vault, clock } = ports;
  const { log } = control;
  const stopped = AbortSignal.any([control.interrupt, control.kill]);
  const isDestroy = job.action === "destroy";
  const isRestored = isRestore(job);
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
  const writeLog = (text: string) => log.write(storedLines(control.mask(text)));
  const operator = operatorSteps(ports.operators, cluster, writeLog, stopped);

  async function tofu(
    args: readonly string[],
    more: { collects?: boolean; onStep?: () => void } = {},
  ): Promise<TofuEnd> {
    stopped.throwIfAborted();
    const errors: Diagnostic[] = [];
    const lastLines: string[] = [];
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
        lastLines.splice(0, lastLines.length, ...[...lastLines, ...lines].slice(-LAST_LINES));
        return log.write(lines);
      },
    });
    stopped.throwIfAborted();
    if (end.code === 0) return end;
    if (end.code === null) throw new ProgramKilled("OpenTofu was killed from outside.");
    const messages = errors.length > 0 ? errors : [lastLinesOf(lastLines)];
    throw new RunFailed(args[0] === "init" ? initFailure(lastLines) : provider.failureOf(messages));
  }

  async function plan(replaced: readonly string[]): Promise<ReadPlan> {
    log.report(PLAN);
    const flags = isDestroy ? ["-destroy"] : replaced.map((node) => `-replace=${provider.machineAddress(node)}`);
    await tofu(["plan", "-json", ...COMMON, `-out=${PLAN_FILE}`, ...flags]);
    const shown = await tofu(["show", "-json", "-no-color", PLAN_FILE], { collects: true });
    return readPlan(shown.output);
  }

  async function confirm(decided: Decided): Promise<void> {
    if (job.plan_job_id === null) return;
    const seen = await boundPlan(db, job);
    const isBegun = job.plan_confirmed_at !== null;
    const problem = isBegun ? unseenProblem(seen, decided) : boundPlanProblem(seen, decided);
    if (problem) throw new RunFailed(problem);
    if (isBegun) return;
    await confirmPlan(db, hold, job.id, clock());
    await writeLog(`The change is the one that the job ${job.plan_job_id} has planned.`);
  }

  async function store(
    { summary, changes, updates }: ReadPlan,
    { volumes, removed }: Pick<Decided, "volumes" | "removed">,
  ): Promise<void> {
    const { region, instanceType, diskSizeGb } = machines();
    const estimate = isDestroy ? null : provider.estimate({ region, instanceType, diskSizeGb, agentCount });
    const plan = { planned_at: clock().toISOString(), summary, changes, volumes, estimate };
    const isNew = (node: string) =>
      changes.some(
        ({ address, action }) => address === provider.machineAddress(node) && ["create", "replace"].includes(action),
      );
    const digest = planDigest({ changes, updates, volumes, removed });
    await savePlan(db, hold, job.id, { plan, digest }, PLAN, async (tx) => {
      if (isDestroy || job.dry_run) return;
      await expectMachines(tx, job, { made: nodes.filter(isNew), wanted: nodes, hashes: runHashes }, clock());
      if (job.node === null) return;
      const address = provider.machineAddress(job.node);
      await saveReplacedMachine(tx, job.id, changes.find((change) => change.address === address)?.id ?? null);
    });
  }

  async function apply({ steps }: ReadPlan): Promise<void> {
    let ended = 0;
    log.report(applied(0, steps));
    await tofu(["apply", "-json", ...COMMON, PLAN_FILE], {
      onStep: () => log.report(applied(++ended, steps)),
    });
  }

  async function survey() {
    const existing = await provider.existing(access, cluster.id, stopped);
    const text = await loadState(db, vault, cluster.id);
    return { existing, known: text === null ? null : readState(text) };
  }

  async function remove(resources: readonly CloudResource[]): Promise<void> {
    if (resources.length === 0) return;
    for (const { type, id } of resources) await writeLog(`${type} ${id} exists outside the state: it is removed.`);
    await provider.remove(access, resources, stopped);
  }

  const machines = () => ({
    region: access["region"],
    instanceType: cluster.instance_type ?? "",
    diskSizeGb: cluster.disk_size_gb ?? 0,
  });

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

  async function restoredSnapshot(bucket: string | null): Promise<string | null> {
    if (!isRestored) return null;
    const found = await snapshotToRestore(provider, access, { id: cluster.id, bucket }, stopped);
    const { name, takenAt } = found;
    // Where the machine was replaced already, only its successor may still be missing.
    if (job.action === "upgrade" && job.replaced_machine === null && !isFresh(found, clock())) {
      const waitMs = snapshotWaitMs(job.snapshot_wait_since, clock());
      if (waitMs === null) throw new RunFailed(NO_FRESH_SNAPSHOT);
      throw new RunWaits(
        `The newest snapshot is of ${takenAt}, and the control plane is made anew from one of the last minutes.`,
        waitMs,
      );
    }
    await writeLog(`The control plane begins with the snapshot ${name} of ${takenAt}. What was changed since is lost.`);
    return name;
  }

  /** The machines of an earlier run that never became nodes, and never will with the tokens that they have; and the one to replace. */
  async function nodesToReplace(existing: readonly CloudResource[]): Promise<string[]> {
    const boots = await bootsOf(db, cluster.id);
    const broken = isRestored
      ? boots.flatMap(({ node, status }) => (status === "failed" ? [node] : []))
      : machinesToReplace(boots, nodes, cluster.first_connected_at !== null);
    for (const node of broken) await writeLog(`The machine ${node} has not become a node: it is replaced.`);
    const chosen = isToBeReplaced(job, existing) && !broken.includes(job.node) ? [job.node] : [];
    for (const node of chosen) await writeLog(`The machine of ${node} is replaced.`);
    return [...broken, ...chosen];
  }

  return {
    async prepare(): Promise<void> {
      log.report(INIT);
      const made = await machinesMadeWith(ports, hold, cluster, access);
      const wanted: WantedCluster = {
        id: cluster.id,
        jobId: job.id,
        name: cluster.name,
        agentCount,
        ...machines(),
        ...made,
        kubernetes: job.kubernetes_release ?? made.kubernetes,
        permissionsBoundary: access["permissions_boundary"] ?? null,
        egress: cluster.egress,
        restoredSnapshot: await restoredSnapshot(made.snapshotBucket),
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

    operator,
    survey,
    nodesToReplace,
    keep: async (address) => void (await tofu(["untaint", "-no-color", address])),
    plan,
    import: (imported) => folder.write(IMPORTS_FILE, JSON.stringify({ import: imported })),
    confirm,
    store,
    apply,
    remove,
    writeLog,
  };
}
