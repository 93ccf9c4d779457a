import { type Selectable, sql } from "kysely";
import { readSurroundings } from "../clusters/freshness.store.ts";
import { withoutSurroundings } from "../clusters/freshness.ts";
import { APP_COLUMNS, LISTED_DEPLOYMENT_COLUMNS } from "../database/columns.ts";
import type { AddonInstanceTable } from "../database/fleet-tables.ts";
import { insertOf } from "../database/insert.store.ts";
import { type Bound, runTogether } from "../database/prepared.adapter.ts";
import { trimOf } from "../database/revision-limit.store.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { codedConflict, invalid, notFound } from "../fault.ts";
import { noOperatorConnected } from "../hub/operator-requests.ts";
import { newId } from "../id.adapter.ts";
import { requireActive } from "../projects/project.store.ts";
import type { Project } from "../projects/project.ts";
import type { Vault } from "../vault/vault.ts";
import type { App, AppAddress, AppWithSecretPaths, Deployment, ListedComponent } from "./app.ts";
import { type SecretChanges, secretPath } from "./app-secrets.ts";

/**
 * Locks the app until the end of the transaction, so that concurrent changes build on each other. The keys are read in
 * a second statement: the first one would return them as they were before it waited for the lock.
 */
export async function lockApp(tx: Tx, { projectId, namespace, name }: AppAddress): Promise<AppWithSecretPaths> {
  const app = await tx
    .selectFrom("apps")
    .select(APP_COLUMNS)
    .where("project_id", "=", projectId)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .forUpdate()
    .executeTakeFirst();
  if (!app) throw notFound("App");
  const [keys, surroundings] = [await listSecretKeys(tx, app.id), await readSurroundings(tx, app)];
  return { ...app, ...surroundings, secret_paths: keys.map(({ component, key }) => secretPath(component, key)) };
}

export const appNameTaken = (name: string) =>
  codedConflict("name_taken", `The project already has an app ${name}.`, { name });

/** Locks the names of the objects of a project until the commit, so that of two apps that want one the second sees it. */
export async function lockObjectNames(tx: Tx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('apps.object_names'), hashtext(${projectId}))`.execute(tx);
}

/**
 * Locks an active project for a new app, and then the names of its objects, in one statement. They are locked in this order
 * everywhere, and the other one would be a deadlock: the materialized part is executed first. The apps that may share a name
 * with the new one are read by a statement behind it, which sees everything that was committed before the lock.
 */
export async function lockForNewApp(tx: Tx, projectId: string, name: string): Promise<readonly Namesake[]> {
  const locking = { text: LOCK_FOR_NEW_APP, values: [projectId] };
  const [locked, namesakes] = await runTogether(tx, [locking, namesakesOf(projectId, name)]);
  requireActive(locked?.rows[0] as Pick<Project, "lifecycle"> | undefined);
  return namesakes?.rows as Namesake[];
}

const LOCK_FOR_NEW_APP = `
  with held as materialized (select lifecycle from projects where id = $1::uuid for share)
  select lifecycle, pg_advisory_xact_lock(hashtext('apps.object_names'), hashtext($1::uuid::text)) from held`;

/** An app that has the wanted name, or objects that may have names of the wanted app's objects. */
export interface Namesake extends Pick<App, "name" | "phase"> {
  readonly components: readonly ListedComponent[];
}

/**
 * Reads the apps of a project that have the name or may have an object's name in common with an app of that name, even those
 * that are being deleted. Names of objects begin with the app's name and a hyphen, so these are the apps whose name begins
 * with the other's.
 */
export async function findNamesakes(tx: Tx, projectId: string, name: string): Promise<readonly Namesake[]> {
  const [namesakes] = await runTogether(tx, [namesakesOf(projectId, name)]);
  return namesakes?.rows as Namesake[];
}

function namesakesOf(projectId: string, name: string): Bound {
  const words = name.split("-");
  const beginnings = words.map((_, index) => words.slice(0, index + 1).join("-"));
  return { text: NAMESAKES, values: [projectId, beginnings, `${name}-`, `${name}.`] };
}

/** In the collation "C" a full stop follows the hyphen. */
const NAMESAKES = `
  select name, phase, listed_components::jsonb as components from apps where project_id = $1
    and (name = any($2) or (name collate "C" > $3 and name collate "C" < $4))
  order by name`;

/** The columns of the row itself. */
function columnsOf(shown: AppWithSecretPaths) {
  const { secret_paths: _paths, ...app } = withoutSurroundings(shown);
  return {
    ...app,
    components: JSON.stringify(app.components),
    replicas_before_pause: app.replicas_before_pause && JSON.stringify(app.replicas_before_pause),
    component_statuses: JSON.stringify(app.component_statuses),
    drift_fields: JSON.stringify(app.drift_fields),
    drift_repairs: JSON.stringify(app.drift_repairs),
  };
}

/** The statement that writes a new app with its first deployment. Requires its name to be locked, and free. */
export const insertionOf = (app: AppWithSecretPaths, deployment: Deployment): Bound =>
  insertOf({ apps: columnsOf(app), app_deployments: deploymentColumns(deployment) });

/** Requires the app to be locked. */
export async function updateAppRow(tx: Tx, app: AppWithSecretPaths): Promise<void> {
  await tx.updateTable("apps").set(columnsOf(app)).where("id", "=", app.id).execute();
}

/** Ends the pending deployments of an app, which a new one replaces. */
export async function supersedePending(tx: Tx, appId: string, now: Date): Promise<void> {
  await tx
    .updateTable("app_deployments")
    .set({ status: "superseded", finished_at: now, updated_at: now })
    .where("app_id", "=", appId)
    .where("status", "=", "pending")
    .execute();
}

export async function insertDeployment(tx: Tx, deployment: Deployment): Promise<void> {
  await tx.insertInto("app_deployments").values(deploymentColumns(deployment)).execute();
}

const deploymentColumns = (deployment: Deployment) => ({
  ...deployment,
  spec: JSON.stringify(deployment.spec),
  changes: deployment.changes && JSON.stringify(deployment.changes),
});

/** Deletes the oldest revisions of an app beyond its limits. */
export const revisionTrim = trimOf({ table: "app_deployments", owner: "app_id", number: "revision", content: "spec" });

/** Without their specifications, and how many there are. */
export async function listDeploymentRows(
  db: Queries,
  appId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: Omit<Deployment, "spec">[]; total: number }> {
  const deployments = db.selectFrom("app_deployments").where("app_id", "=", appId);
  const [rows, counted] = await Promise.all([
    deployments
      .select(LISTED_DEPLOYMENT_COLUMNS)
      .orderBy("revision", "desc")
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    deployments.select(({ fn }) => fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { rows, total: Number(counted.total) };
}

export async function findDeployment(
  db: Queries,
  appId: string,
  wanted: { readonly id: string } | { readonly revision: number },
): Promise<Deployment> {
  const all = db.selectFrom("app_deployments").selectAll().where("app_id", "=", appId);
  const one = "id" in wanted ? all.where("id", "=", wanted.id) : all.where("revision", "=", wanted.revision);
  const deployment = await one.executeTakeFirst();
  if (!deployment) throw notFound("Deployment");
  return deployment;
}

/** Finds an instance in the project of the app. Its phase shows whether it is being deleted. */
export async function findInstance(
  db: Queries,
  projectId: string,
  id: string,
): Promise<Pick<Selectable<AddonInstanceTable>, "id" | "name" | "phase">> {
  const instance = await db
    .selectFrom("addon_instances")
    .select(["id", "name", "phase"])
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!instance) throw notFound("Addon instance");
  return instance;
}

export function listSecretKeys(db: Queries, appId: string) {
  return db
    .selectFrom("app_secrets")
    .select(["component", "key", "updated_at"])
    .where("app_id", "=", appId)
    .orderBy("component")
    .orderBy("key")
    .execute();
}

/** Requires the app to be locked. A value is sealed for the id of its row, so a changed secret gets a new row. */
export async function writeSecrets(
  tx: Tx,
  vault: Vault,
  appId: string,
  { dropped, values }: SecretChanges,
  now: Date,
): Promise<void> {
  const touched = [...values].flatMap(([component, keys]) =>
    [...keys].map(([key, value]) => ({ component, key, value })),
  );
  if (dropped.size === 0 && touched.length === 0) return;
  await sql`
    delete from app_secrets where app_id = ${appId} and (
      component = any(${[...dropped]}::text[]) or (component, key) in (
        select * from unnest(${touched.map(({ component }) => component)}::text[], ${touched.map(({ key }) => key)}::text[])
      )
    )
  `.execute(tx);
  const set = touched.flatMap(({ component, key, value }) => (value === null ? [] : [{ component, key, value }]));
  // An app may have twenty thousand secrets. Sealing all of them at once would block other requests.
  for (let at = 0; at < set.length; at += SECRETS_AT_ONCE) {
    const rows = set.slice(at, at + SECRETS_AT_ONCE).map(({ component, key, value }) => {
      const id = newId();
      return {
        id,
        component,
        key,
        sealed: vault.seal(value, { table: "app_secrets", row: id, column: "sealed_value" }),
      };
    });
    await sql`
      insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
      select given.id, ${appId}, given.component, given.key, given.sealed, ${now} from unnest(
        ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ component }) => component)}::text[],
        ${rows.map(({ key }) => key)}::text[], ${rows.map(({ sealed }) => sealed)}::text[]
      ) as given (id, component, key, sealed)
    `.execute(tx);
  }
  if (set.length > 0) await refuseLargeSecrets(tx, appId);
}

const SECRETS_AT_ONCE = 500;

/** The secrets of an app have to fit into one frame to its cluster beside the app. */
const LARGEST_SECRETS_BYTES = 500_000;

/** A sealed value is base64, behind its key and nonce. Names count too: twenty thousand empty values may have long ones. */
async function refuseLargeSecrets(tx: Tx, appId: string): Promise<void> {
  const { rows } = await sql<{ bytes: string }>`
    select coalesce(sum(length(split_part(sealed_value, '.', 4)) * 3 / 4 + octet_length(component) + octet_length(key)), 0) as bytes
    from app_secrets where app_id = ${appId}
  `.execute(tx);
  const bytes = Number(rows[0]?.bytes);
  if (bytes <= LARGEST_SECRETS_BYTES) return;
  const message = `The secrets of the app would have about ${bytes} bytes together, with their keys and components; ${LARGEST_SECRETS_BYTES} are the most`;
  throw invalid([{ loc: ["body"], msg: message, type: "too_long" }]);
}

/** Throws where no hub holds a session of the cluster's operator. */
export async function requireOperator(db: Queries, clusterId: string, now: Date): Promise<void> {
  const session = await db
    .selectFrom("cluster_sessions")
    .select("lease_until")
    .where("cluster_id", "=", clusterId)
    .executeTakeFirst();
  if (!session || session.lease_until <= now) throw noOperatorConnected();
}

/** Reads what decides whether commands may run in the app; null where the app is gone. */
export async function findExecApp(db: Queries, id: string): Promise<Pick<App, "name" | "phase" | "components"> | null> {
  const app = await db
    .selectFrom("apps")
    .select(["name", "phase", "components"])
    .where("id", "=", id)
    .executeTakeFirst();
  return app ?? null;
}
