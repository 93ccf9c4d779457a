import type { ComponentInput } from "@binnacle/contract";
import { codedConflict, invalid } from "../fault.ts";
import type { Unit } from "../http/change.runner.ts";
import { newId } from "../id.adapter.ts";
import { holdStayingProject } from "../projects/project.store.ts";
import type { Project } from "../projects/project.ts";
import { appNameTaken, findNamesake, insertApp } from "./app.store.ts";
import type { SeenApp } from "./app.ts";
import { keptPart, newAppProblems } from "./component-change.ts";
import { hostsOf, refuseWildcards } from "./ingress-host.ts";
import { type AppPorts, deploy } from "./operate.runner.ts";
import { NO_SECRET_CHANGES, secretPathsAfter, thenSecrets } from "./secret-changes.ts";

export interface NewApp {
  readonly project: Project;
  readonly name: string;
  readonly description: string | null;
  /** Their form checked, their defaults filled in. */
  readonly components: readonly ComponentInput[];
  readonly createdBy: string;
  readonly isOrgAdmin: boolean;
  /** The deployment has failed when the app is not running by then. */
  readonly timeoutSeconds?: number;
}

/** Creates an app within a change that the caller makes; the caller has seen to it that they may. */
export async function createApp(unit: Unit, ports: AppPorts, given: NewApp): Promise<SeenApp> {
  const { project, name, description, createdBy, timeoutSeconds } = given;
  const problems = newAppProblems(name, given.components, ports);
  if (problems.length > 0) throw invalid(problems);
  const hosts = hostsOf(given.components);
  refuseWildcards(hosts, given.isOrgAdmin);
  await holdStayingProject(unit.db, project.id);
  const namesake = await findNamesake(unit.db, project.id, name);
  if (namesake?.phase === "deleting")
    throw codedConflict("app_deleting", `The app ${name} is being deleted.`, { name });
  if (namesake) throw appNameTaken(name);

  const now = ports.clock();
  const parts = given.components.map((component) => keptPart(component, ports));
  const secrets = parts.map((part) => part.secrets).reduce(thenSecrets, NO_SECRET_CHANGES);
  const app: SeenApp = {
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
    phase_reason: null,
    phase_message: null,
    observed_generation: null,
    component_statuses: [],
    drift_state: "unknown",
    drift_summary: null,
    drift_fields: [],
    drift_detected_at: null,
    forced_generation: null,
    created_at: now,
    updated_at: now,
    secret_paths: secretPathsAfter([], secrets),
  };
  await insertApp(unit.db, app);
  const deadlineAt = timeoutSeconds === undefined ? null : new Date(now.getTime() + timeoutSeconds * 1000);
  const changes = { description, components: app.components.map((component) => component.name) };
  const step = { app, operation: "create", secrets, forced: false, message: null } as const;
  await deploy(unit, ports, step, { createdBy, now, deadlineAt, changes, hosts });
  return app;
}
