import { type ComponentChange, type ComponentSpec, type DeploymentOperation, problemsOf } from "@binnacle/contract";
import { componentDowngrade } from "../addons/downgrade.ts";
import { codedConflict, Fault, invalid, invalidValue, notFound } from "../fault.ts";
import { suspendedColumns, unsuspendedColumns } from "../suspensions/suspension.ts";
import { type AppSpec, type AppWithSecretPaths, type Deployment, isPaused } from "./app.ts";
import { dropSecrets, NO_SECRET_CHANGES, type SecretChanges, secretPathsAfter, tooManySecrets } from "./app-secrets.ts";
import { type ChangeRules, changeComponents, itemAt } from "./component-change.ts";
import { projectProblemsAdded } from "./project-facts.ts";
import { losesVolumes, recreateRequired, unchangedVolumes, withVolumesAsTheyAre } from "./volume.ts";

/** The result of an operation on an app. */
export interface Step {
  readonly app: AppWithSecretPaths;
  readonly operation: DeploymentOperation;
  readonly secrets: SecretChanges;
  /** This generation takes over fields that another field manager owns. */
  readonly forced: boolean;
  /** The revision that a rollback restores. */
  readonly restored: number | null;
}
export type Outcome = Step | Fault;

type Changes = Partial<Pick<AppWithSecretPaths, "components" | "replicas_before_pause" | "description">>;
type Extra = Partial<Pick<Step, "secrets" | "forced" | "restored">>;

/**
 * An app that is being deleted refuses every operation, and an app in conflict every operation but one that takes over.
 */
function operationProblem(app: AppWithSecretPaths, { takesOver = false } = {}): Fault | null {
  if (app.phase === "deleting") return codedConflict("app_deleting", `The app ${app.name} is being deleted.`);
  if (app.drift_state !== "blocked_sync" || takesOver) return null;
  return codedConflict(
    "blocked_sync",
    "Another manager holds what this app must set. Redeploy with force takes it over.",
    {
      summary: app.drift_summary,
      fields: app.drift_fields,
      detected_at: app.drift_detected_at?.toISOString() ?? null,
    },
  );
}

function step(
  before: AppWithSecretPaths,
  operation: DeploymentOperation,
  changes: Changes = {},
  extra: Extra = {},
): Outcome {
  const { secrets = NO_SECRET_CHANGES, forced = false, restored = null } = extra;
  const refusal = operationProblem(before, { takesOver: forced });
  if (refusal) return refusal;
  const secret_paths = secretPathsAfter(before.secret_paths, secrets);
  const crowded = tooManySecrets(secret_paths);
  if (crowded.length > 0) return invalid(crowded);
  return { app: { ...before, ...changes, secret_paths }, operation, secrets, forced, restored };
}

/** Returns the replica count of each workload while the app is not paused. */
const countsOf = (components: readonly ComponentSpec[]): Record<string, number> =>
  Object.fromEntries(
    components.flatMap(({ name, workload_spec }) => (workload_spec ? [[name, workload_spec.replicas ?? 1]] : [])),
  );

export function updated(
  app: AppWithSecretPaths,
  {
    components: changes,
    description = app.description,
  }: { components?: readonly ComponentChange[]; description?: string | null },
  rules: ChangeRules,
): Outcome {
  const refusal = operationProblem(app);
  if (refusal) return refusal;
  const unchanged = unchangedVolumes(app);
  const changed = changeComponents(app.name, app.components, changes ?? [], rules, app.secret_paths, unchanged);
  if (changed instanceof Fault) return changed;
  const { components, secrets } = changed;
  if (isPaused(app) && countsChanged(app, components)) return pausedConflict("change the replicas of");
  const replicas_before_pause = isPaused(app) ? countsOf(components) : null;
  return step(app, "update", { components, description, replicas_before_pause }, { secrets });
}

/**
 * Returns whether the counts of remaining components change. A paused app must not change the counts that it resumes
 * with.
 */
function countsChanged({ components: before }: AppWithSecretPaths, after: readonly ComponentSpec[]): boolean {
  const [old, now] = [countsOf(before), countsOf(after)];
  return Object.entries(now).some(([name, count]) => Object.hasOwn(old, name) && old[name] !== count);
}

const pausedConflict = (what: string) => codedConflict("app_paused", `Resume the app to ${what} its components.`);

export function scaled(
  app: AppWithSecretPaths,
  { component_name, replicas }: { component_name: string; replicas: number },
): Outcome {
  const component = app.components.find(({ name }) => name === component_name);
  if (!component) return notFound(`Component ${component_name}`);
  const refusal = operationProblem(app);
  if (refusal) return refusal;
  const spec = component.workload_spec;
  if (!spec) return invalidValue(["body", "component_name"], "Only a workload has replicas");
  if (spec.kind === "job" || spec.kind === "cronjob" || spec.kind === "daemonset") {
    return invalidValue(
      ["body", "component_name"],
      `A ${spec.kind} is not scaled; only a deployment or a statefulset is`,
    );
  }
  if (isPaused(app)) return pausedConflict("scale");
  const { autoscale } = spec;
  if (autoscale && replicas > autoscale.max) {
    return invalidValue(["body", "replicas"], `The component scales by itself to at most ${autoscale.max}`);
  }
  const workload_spec = autoscale ? { ...spec, autoscale: { ...autoscale, min: replicas } } : { ...spec, replicas };
  return step(app, "scale", { components: replaced(app, { ...component, workload_spec }) });
}

/** A second pause changes nothing. */
export const pausedApp = (app: AppWithSecretPaths): Outcome =>
  step(app, "pause", { replicas_before_pause: app.replicas_before_pause ?? countsOf(app.components) });

export function resumed(app: AppWithSecretPaths): Outcome {
  const counts = app.replicas_before_pause;
  if (counts === null) return operationProblem(app) ?? codedConflict("app_not_paused", "The app is not paused.");
  return step(app, "resume", { components: withCounts(app.components, counts), replicas_before_pause: null });
}

const withCounts = (components: readonly ComponentSpec[], counts: Readonly<Record<string, number>>): ComponentSpec[] =>
  components.map((component) => {
    const { name, workload_spec } = component;
    const replicas = Object.hasOwn(counts, name) ? counts[name] : undefined;
    return workload_spec && replicas ? { ...component, workload_spec: { ...workload_spec, replicas } } : component;
  });

export const redeployed = (app: AppWithSecretPaths, { force = false }: { force?: boolean }): Outcome =>
  step(app, "redeploy", {}, { forced: force });

/** Resolves the revision of a rollback: -1 is the one before the current. */
export const targetRevision = ({ revision: current }: AppWithSecretPaths, asked: number): number =>
  asked === -1 ? current - 1 : asked;

export function rolledBack(
  app: AppWithSecretPaths,
  { revision, spec }: Pick<Deployment, "revision" | "spec">,
  { findDefinition, project }: Pick<ChangeRules, "findDefinition" | "project">,
  { allow_downgrade = false }: { readonly allow_downgrade?: boolean } = {},
): Outcome {
  const replaced = spec.components.find((component) => losesVolumes(namesake(app.components, component), component));
  if (replaced) return operationProblem(app) ?? recreateRequired(replaced.name);
  const downgrade = componentDowngrade(app.components, spec.components, findDefinition, () => allow_downgrade);
  if (downgrade) return operationProblem(app) ?? downgrade;
  const unchanged = unchangedVolumes(app);
  const components = spec.components.map((component) =>
    unchanged.has(component.name) ? component : withVolumesAsTheyAre(namesake(app.components, component), component),
  );
  // The revision may be older than a rule that it breaks. A rollback to an app that cannot run would not help.
  // It has no secrets: those that it lacks are set afterwards.
  const problems = [
    ...problemsOf({ name: app.name, components }),
    ...projectProblemsAdded(app.components, components, project),
  ];
  if (problems.length > 0) {
    const items = problems
      .map((problem) => itemAt(["body"], problem))
      .map((item) => ({ ...item, msg: `Revision ${revision} cannot run: ${item.msg}` }));
    return operationProblem(app) ?? invalid(items);
  }
  const changes = specChanges({ ...spec, components });
  return step(app, "rollback", changes, { secrets: dropSecrets(namesGone(app, spec)), restored: revision });
}

const namesake = (components: readonly ComponentSpec[], { name }: ComponentSpec) =>
  components.find((component) => component.name === name);

const specChanges = ({ components, paused: wasPaused }: AppSpec): Changes => ({
  components,
  replicas_before_pause: wasPaused ? countsOf(components) : null,
});

const namesGone = ({ components: before }: AppWithSecretPaths, { components: after }: AppSpec): string[] =>
  before.map(({ name }) => name).filter((gone) => !after.some(({ name }) => name === gone));

const isAttachment = (instance: string) => (ref: { component: string; key?: string; env?: string }) =>
  ref.component === instance && ref.key === undefined && ref.env === undefined;

/**
 * Attaches an instance to the named component, or to every workload. A component with the instance's name stands for
 * it.
 */
export function attached(
  app: AppWithSecretPaths,
  { instance, component_name }: { instance: string; component_name?: string | undefined },
): Outcome {
  if (component_name !== undefined && !app.components.some(({ name }) => name === component_name)) {
    return notFound(`Component ${component_name}`);
  }
  const targets = app.components.filter(({ name, workload_spec }) =>
    component_name === undefined ? workload_spec !== undefined && name !== instance : name === component_name,
  );
  if (targets.length === 0) return invalidValue(["body", "component_name"], "The app has no workload to attach it to");
  const open = targets.filter(({ export_refs = [] }) => !export_refs.some(isAttachment(instance)));
  if (open.length === 0) {
    return (
      operationProblem(app) ??
      codedConflict("name_taken", `The addon instance ${instance} is already attached.`, { addon_instance: instance })
    );
  }
  const components = app.components.map((component) =>
    open.includes(component)
      ? { ...component, export_refs: [...(component.export_refs ?? []), { component: instance }] }
      : component,
  );
  const problems = problemsOf({ name: app.name, components }).map((problem) => itemAt(["body"], problem));
  return problems.length > 0 ? invalid(problems) : step(app, "attach_addon", { components });
}

/** Only a workload has an image that can be run once more. */
export function runProblem(app: AppWithSecretPaths, name: string): Fault | null {
  const component = app.components.find((one) => one.name === name);
  if (!component) return notFound(`Component ${name}`);
  if (app.phase === "deleting") return codedConflict("app_deleting", `The app ${app.name} is being deleted.`);
  if (component.workload_spec) return null;
  const msg = "Only a component of the type workload can be run";
  return invalid([{ loc: ["path", "component"], msg, type: "value_error" }]);
}

/** The components that get the exports of an addon instance because it was attached. */
export const attachedComponents = (
  { components }: Pick<AppWithSecretPaths, "components">,
  instance: string,
): string[] =>
  components.flatMap(({ name, export_refs = [] }) => (export_refs.some(isAttachment(instance)) ? [name] : []));

export function detached(app: AppWithSecretPaths, { instance }: { instance: string }): Outcome {
  const isIt = isAttachment(instance);
  if (attachedComponents(app, instance).length === 0) return notFound("Attachment");
  const components = app.components.map((component) =>
    component.export_refs
      ? { ...component, export_refs: component.export_refs.filter((ref) => !isIt(ref)) }
      : component,
  );
  return step(app, "detach_addon", { components });
}

export function secretsChanged(app: AppWithSecretPaths, component: string, secrets: SecretChanges): Outcome {
  if (!app.components.some(({ name }) => name === component)) return notFound(`Component ${component}`);
  return step(app, "update_secrets", {}, { secrets });
}

const replaced = ({ components }: AppWithSecretPaths, changed: ComponentSpec) =>
  components.map((component) => (component.name === changed.name ? changed : component));

/** The app with its next generation, on which the cluster has not reported yet. Nothing else counts generations of apps. */
export const nextGeneration = (
  app: AppWithSecretPaths,
  phase: "pending" | "deleting",
  now: Date,
): AppWithSecretPaths => ({
  ...app,
  generation: app.generation + 1,
  phase,
  phase_since: now,
  phase_reason: null,
  phase_message: null,
  updated_at: now,
});

/**
 * The app stays, marked as deleting, until the cluster has confirmed that nothing of it is left. No state of the app
 * prevents its deletion: the operator deletes only objects that it made for this app.
 */
export const deleted = (app: AppWithSecretPaths, now: Date): AppWithSecretPaths => nextGeneration(app, "deleting", now);

/** Null where it is suspended already: who, when and why stay those of the first time. */
export function suspended(
  app: AppWithSecretPaths,
  { by, reason }: { readonly by: string; readonly reason: string | null },
  now: Date,
): AppWithSecretPaths | Fault | null {
  if (app.phase === "deleting") return codedConflict("app_deleting", `The app ${app.name} is being deleted.`);
  const columns = suspendedColumns(app, { by, reason }, now);
  return columns && { ...nextGeneration(app, "pending", now), ...columns, suspension_reported: null };
}

/** Null where it is not suspended. */
export function unsuspended(app: AppWithSecretPaths, now: Date): AppWithSecretPaths | null {
  const columns = unsuspendedColumns(app);
  return columns && { ...nextGeneration(app, "pending", now), ...columns, suspension_reported: null };
}
