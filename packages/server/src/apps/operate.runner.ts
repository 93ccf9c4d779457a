import type { IncomingHttpHeaders } from "node:http";
import {
  appChanges,
  boundedChanges,
  type ComponentInput,
  type ComponentSpec,
  changeSummary,
  EMPTY_REVISION,
  findSharedName,
  type ObjectName,
  objectNames,
  projectProblems,
  type Revision,
  type ValidationItem,
} from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { runTogether } from "../database/prepared.adapter.ts";
import type { Tx } from "../database/transaction.ts";
import { codedConflict, Fault, invalid } from "../fault.ts";
import type { Unit } from "../http/change.runner.ts";
import { requireMatch } from "../http/etag.ts";
import { newId, newSecret } from "../id.adapter.ts";
import type { ConnectedProject } from "../projects/project.ts";
import { NOT_SUSPENDED } from "../suspensions/suspension.ts";
import type { Vault } from "../vault/vault.ts";
import { type ComponentRules, missingAddonSecrets } from "./addon-component.ts";
import {
  appNameTaken,
  findNamesakes,
  insertDeployment,
  insertionOf,
  lockApp,
  lockForNewApp,
  lockObjectNames,
  type Namesake,
  revisionTrim,
  supersedePending,
  updateAppRow,
  writeSecrets,
} from "./app.store.ts";
import {
  type AppAddress,
  type AppWithSecretPaths,
  appEvent,
  appVersion,
  auditedApp,
  type Deployment,
  dispatchedApp,
  revisionOf,
  specOf,
} from "./app.ts";
import {
  changedSecretPaths,
  combineSecretChanges,
  NO_SECRET_CHANGES,
  secretPathsAfter,
  setSecrets,
} from "./app-secrets.ts";
import { itemAt, storedPart } from "./component-change.ts";
import { NO_DRIFT_REPORTED } from "./drift-report.ts";
import { claimAddresses, claimHosts } from "./ingress-host.store.ts";
import { addedHosts, addedIngresses, hostsOf, refuseWildcards } from "./ingress-host.ts";
import { readProjectFacts } from "./project-facts.store.ts";
import { nextGeneration, type Outcome, type Step } from "./transition.ts";

export interface AppPorts extends ComponentRules {
  readonly vault: Vault;
  readonly clock: Clock;
  /** The time for the cluster to become ready with a change, where the caller gives none. */
  readonly deploymentTimeoutSeconds: number;
}

interface Order {
  readonly address: AppAddress;
  readonly headers: IncomingHttpHeaders;
  readonly createdBy: string;
  /** Needed only by operations that may add a wildcard host. */
  readonly isOrgAdmin?: boolean;
  /** The changes for the audit log. They must not contain a secret. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** Runs one operation on one app: locks it, decides, and writes the outcome. */
export async function operate(
  unit: Unit,
  ports: AppPorts,
  { address, headers, createdBy, isOrgAdmin = false, changes = {} }: Order,
  decide: (app: AppWithSecretPaths) => Outcome | Promise<Outcome>,
): Promise<AppWithSecretPaths> {
  const before = await lockApp(unit.db, address);
  requireMatch(headers, appVersion(before));
  const decided = await decide(before);
  if (decided instanceof Fault) throw decided;
  const outcome = withGeneratedSecrets(decided, before.components, ports);
  const hosts = addedHosts(before.components, outcome.app.components);
  refuseWildcards(hosts, isOrgAdmin);
  const now = ports.clock();
  const app = advanced(outcome, now);
  const added = addedObjectNames(app, before.components);
  if (added.length > 0) {
    await lockObjectNames(unit.db, app.project_id);
    const others = await findNamesakes(unit.db, app.project_id, app.name);
    refuseSharedNames(
      others.filter(({ name }) => name !== app.name),
      added,
    );
  }
  const context = { before: revisionOf(before), createdBy, now, changes, hosts };
  await deploy(unit, ports, { ...outcome, app }, context, async (tx, deployment) => {
    await updateAppRow(tx, app);
    await supersedePending(tx, app.id, now);
    await insertDeployment(tx, deployment);
    unit.write(revisionTrim(app.id));
  });
  return app;
}

function withGeneratedSecrets(step: Step, before: readonly ComponentSpec[], { findDefinition }: AppPorts): Step {
  const { app, secrets } = step;
  const change = { before, after: app.components, secretPaths: app.secret_paths, dropped: secrets.dropped };
  const generated = [...missingAddonSecrets(change, findDefinition)].map(([component, paths]) =>
    setSecrets(component, Object.fromEntries(paths.map((path) => [path, newSecret()]))),
  );
  if (generated.length === 0) return step;
  const all = generated.reduce(combineSecretChanges, secrets);
  return { ...step, secrets: all, app: { ...app, secret_paths: secretPathsAfter(app.secret_paths, all) } };
}

function addedObjectNames(
  { name, components }: Pick<AppWithSecretPaths, "name" | "components">,
  before: readonly ComponentSpec[],
): ObjectName[] {
  const had = new Set(objectNames(name, before).map((object) => object.name));
  return objectNames(name, components).filter((object) => !had.has(object.name));
}

/**
 * Throws the 409 where an object that the app adds has the name of an object of another app of the project: `a-b` with the
 * component `c`, and `a` with `b-c`. The objects would be one, and each app would take it from the other.
 */
function refuseSharedNames(others: readonly Namesake[], added: readonly ObjectName[]): void {
  const found = findSharedName(others, added);
  if (!found) return;
  const { app, owner, wanted } = found;
  throw codedConflict(
    "name_taken",
    `The name ${owner.name} in the cluster belongs to component ${owner.component} of the app ${app}. Give component ${wanted.component} another name.`,
    { name: owner.name, app, component: wanted.component },
  );
}

function advanced({ app, forced }: Step, now: Date): AppWithSecretPaths {
  const next = nextGeneration(app, "pending", now);
  return {
    ...next,
    revision: app.revision + 1,
    ...(forced ? { ...NO_DRIFT_REPORTED, forced_generation: next.generation } : {}),
  };
}

interface AuditContext {
  readonly before: Revision;
  readonly createdBy: string;
  readonly now: Date;
  readonly timeoutSeconds?: number | undefined;
  readonly changes: Readonly<Record<string, unknown>>;
  /** The hosts that the operation adds to the app. */
  readonly hosts: readonly string[];
}

/**
 * Writes the app with its new deployment, and what every operation adds: its secrets, its hosts, the events and the dispatch.
 */
async function deploy(
  { db, record, announce, dispatch }: Unit,
  { vault, deploymentTimeoutSeconds }: AppPorts,
  { app, operation, secrets, restored, forced }: Step,
  { before, createdBy, now, timeoutSeconds = deploymentTimeoutSeconds, changes, hosts }: AuditContext,
  write: (tx: Tx, deployment: Deployment) => Promise<void>,
): Promise<void> {
  const changedSecrets = changedSecretPaths(secrets);
  const fields = appChanges(before, revisionOf(app), changedSecrets);
  const summary = changeSummary(operation, fields, { restored, isForced: forced });
  await write(db, {
    id: newId(),
    app_id: app.id,
    revision: app.revision,
    generation: app.generation,
    operation,
    status: "pending",
    message: null,
    summary,
    changes: boundedChanges(fields),
    spec: specOf(app),
    created_by: createdBy,
    // Nothing happens while the app is suspended. The time begins when that ends.
    deadline_at: app.suspended_at ? null : new Date(now.getTime() + timeoutSeconds * 1000),
    changed_secrets: changedSecrets,
    finished_at: null,
    created_at: now,
    updated_at: now,
  });
  await writeSecrets(db, vault, app.id, secrets, now);
  record({
    action: `app.${operation}`,
    resource: auditedApp(app),
    orgId: app.org_id,
    changes: { ...changes, revision: app.revision },
    fields,
    summary,
  });
  announce({ ...appEvent(app, app, now), operation, summary });
  await claimHosts(db, app, hosts);
  await claimAddresses(db, app, addedIngresses(before.components, app.components));
  dispatch(app.cluster_id, [dispatchedApp(app)]);
}

export interface NewApp {
  readonly project: ConnectedProject;
  readonly name: string;
  readonly description: string | null;
  /** Validated components with their defaults filled in. */
  readonly components: readonly ComponentInput[];
  readonly createdBy: string;
  readonly isOrgAdmin: boolean;
  /** The deployment fails if the app is not running after this time. Without it, the configured time counts. */
  readonly timeoutSeconds?: number;
  /** Finds the place in the request for problems with components. Without it they are components of the body. */
  readonly located?: (items: readonly ValidationItem[]) => readonly ValidationItem[];
}

/** Throws the 422 where the project does not have what the components of a new app ask it for. */
async function refuseInProject(tx: Tx, { project, components, located = (items) => items }: NewApp): Promise<void> {
  const facts = await readProjectFacts(tx, project.id, components);
  const items = projectProblems(components, facts).map((problem) => itemAt(["body", ...problem.path], problem));
  if (items.length > 0) throw invalid(located(items));
}

/** Creates an app in the transaction of the caller, who has authorized it and has validated its components. */
export async function createApp(unit: Unit, ports: AppPorts, given: NewApp): Promise<AppWithSecretPaths> {
  const { project, name, description, createdBy, timeoutSeconds } = given;
  const hosts = hostsOf(given.components);
  refuseWildcards(hosts, given.isOrgAdmin);
  const others = await lockForNewApp(unit.db, project.id, name);
  await refuseInProject(unit.db, given);
  const namesake = others.find((other) => other.name === name);
  if (namesake?.phase === "deleting")
    throw codedConflict("app_deleting", `The app ${name} is being deleted.`, { name });
  if (namesake) throw appNameTaken(name);

  const now = ports.clock();
  const parts = given.components.map((component) => storedPart(component, ports));
  const secrets = parts.map((part) => part.secrets).reduce(combineSecretChanges, NO_SECRET_CHANGES);
  const made: AppWithSecretPaths = {
    id: newId(),
    org_id: project.org_id,
    cluster_id: project.cluster_id,
    project_id: project.id,
    namespace: project.namespace,
    name,
    description,
    components: parts.map(({ kept }) => kept),
    replicas_before_pause: null,
    generation: 1,
    revision: 1,
    phase: "pending",
    phase_since: now,
    phase_reason: null,
    phase_message: null,
    observed_generation: null,
    component_statuses: [],
    drift_state: "unknown",
    drift_summary: null,
    drift_fields: [],
    drift_detected_at: null,
    drift_repairs: [],
    forced_generation: null,
    ...NOT_SUSPENDED,
    reported_at: null,
    last_heartbeat: project.last_heartbeat,
    session_lease_until: project.session_lease_until,
    project_reason: project.lifecycle_reason,
    project_message: project.lifecycle_message,
    operator_suspends: project.operator_suspends ?? null,
    surrounding_suspension: project.surrounding_suspension ?? null,
    created_at: now,
    updated_at: now,
    secret_paths: secretPathsAfter([], secrets),
  };
  const step = withGeneratedSecrets(
    { app: made, operation: "create", secrets, forced: false, restored: null },
    [],
    ports,
  );
  const { app } = step;
  refuseSharedNames(others, addedObjectNames(app, []));
  const context = { before: EMPTY_REVISION, createdBy, now, timeoutSeconds, changes: {}, hosts };
  const isReferredTo = hosts.length > 0 || step.secrets.values.size > 0;
  await deploy(unit, ports, step, context, async (tx, deployment) => {
    const insertion = insertionOf(app, deployment);
    if (isReferredTo) await runTogether(tx, [insertion]);
    else unit.write(insertion);
  });
  return app;
}
