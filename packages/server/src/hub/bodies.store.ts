import type { DesiredBodies, DesiredKind } from "@binnacle/contract";
import type { Selectable } from "kysely";
import { definitionGone } from "../addons/addon.ts";
import { addonBody } from "../addons/desired-addon.ts";
import { appBody } from "../apps/desired-app.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import type { SettingsRow } from "../clusters/cluster-settings.ts";
import type { RegistrySecretTable } from "../database/fleet-tables.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import type { Log } from "../outage.ts";
import { projectBody } from "../projects/desired-project.ts";
import type { Project } from "../projects/project.ts";
import { registrySecretsBody } from "../registries/desired-registry-secrets.ts";
import { SealBroken, type Vault } from "../vault/vault.ts";
import { rememberLast } from "./once.ts";
import type { BodySource, Untold } from "./ports.ts";

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly catalog: Pick<Catalog, "addons">;
  readonly log: Log;
}

type Body = DesiredBodies[DesiredKind];
/** Null where the resource is not there any more. */
type MakeBody = (row: Untold) => Body | null;

const MOST_REMEMBERED = 10_000;

/**
 * The content of what clusters are told, read when it is told: so it is never older than the generation it is told with,
 * and where it is newer the next generation is on its way.
 */
export function createBodySource({ db, vault, catalog, log }: Ports): BodySource {
  const definitions = new Map(catalog.addons.map((definition) => [definition.id, definition]));
  const definitionOf = (id: string) => definitions.get(id.toLowerCase());
  const isNews = rememberLast(MOST_REMEMBERED);

  /** It is asked for again and again; one line says that it cannot be told, without anything of what it is. */
  function cannotTell({ kind, resource_id, cluster_id, generation }: Untold, error: Error): void {
    if (!isNews(`${kind}/${resource_id}`, `${generation} ${error.message}`)) return;
    log.warn({ kind, resource_id, cluster_id, generation, err: error }, "a resource cannot be told to its cluster");
  }

  return {
    async bodiesOf(rows) {
      const wanted = rows.filter(({ removed_at }) => removed_at === null);
      const of = (kind: DesiredKind) => wanted.filter((row) => row.kind === kind);
      const projects = await projectsOf(db, [...of("project"), ...of("registry_secrets")]);
      const make: Record<DesiredKind, MakeBody> = {
        project: (row) =>
          found(projects.get(row.resource_id), ({ settings, ...project }) => projectBody(project, settings)),
        registry_secrets: await registrySecretsMaker(of("registry_secrets"), projects),
        app: await appMaker(of("app")),
        addon_instance: await addonMaker(of("addon_instance")),
      };
      const bodies = new Map<Untold, Body | Fault>();
      for (const row of wanted) {
        try {
          const body = make[row.kind](row);
          if (body) bodies.set(row, body);
        } catch (error) {
          if (!(error instanceof SealBroken || error instanceof Fault)) throw error;
          cannotTell(row, error);
          if (error instanceof Fault) bodies.set(row, error);
        }
      }
      return bodies;
    },
  };

  async function appMaker(rows: readonly Untold[]): Promise<MakeBody> {
    if (rows.length === 0) return () => null;
    const ids = rows.map(({ resource_id }) => resource_id);
    const apps = byId(await db.selectFrom("apps").selectAll().where("id", "in", ids).execute());
    const sealed = Map.groupBy(
      await db.selectFrom("app_secrets").selectAll().where("app_id", "in", ids).orderBy("key").execute(),
      ({ app_id }) => app_id,
    );
    return ({ resource_id }) =>
      found(apps.get(resource_id), (app) => {
        const components = Map.groupBy(sealed.get(app.id) ?? [], ({ component }) => component);
        const opened = [...components].map(
          ([component, secrets]) =>
            [component, new Map(secrets.map((secret) => [secret.key, open("app_secrets", secret)]))] as const,
        );
        return appBody(app, definitionOf, new Map(opened));
      });
  }

  async function addonMaker(rows: readonly Untold[]): Promise<MakeBody> {
    if (rows.length === 0) return () => null;
    const ids = rows.map(({ resource_id }) => resource_id);
    const instances = byId(await db.selectFrom("addon_instances").selectAll().where("id", "in", ids).execute());
    const sealed = Map.groupBy(
      await db.selectFrom("addon_secrets").selectAll().where("addon_instance_id", "in", ids).orderBy("path").execute(),
      ({ addon_instance_id }) => addon_instance_id,
    );
    return ({ resource_id }) =>
      found(instances.get(resource_id), (instance) => {
        const definition = definitionOf(instance.definition_id);
        if (!definition) throw definitionGone();
        const secrets = sealed.get(instance.id) ?? [];
        const opened = secrets.map((secret) => [secret.path, open("addon_secrets", secret)] as const);
        return addonBody(instance, definition, new Map(opened));
      });
  }

  async function registrySecretsMaker(
    rows: readonly Untold[],
    projects: Awaited<ReturnType<typeof projectsOf>>,
  ): Promise<MakeBody> {
    if (rows.length === 0) return () => null;
    const secrets = await db
      .selectFrom("registry_secrets")
      .selectAll()
      .where(({ or, eb }) =>
        or([
          eb(
            "project_id",
            "in",
            rows.map(({ resource_id }) => resource_id),
          ),
          eb("cluster_id", "in", [...new Set(rows.map(({ cluster_id }) => cluster_id))]),
        ]),
      )
      .orderBy("id", "desc")
      .execute();
    const byOwner = Map.groupBy(secrets, ({ project_id, cluster_id }) => project_id ?? cluster_id ?? "");
    const opened = (owner: string) =>
      (byOwner.get(owner) ?? []).map((secret) => ({ ...secret, password: openPassword(secret) }));
    return ({ resource_id }) =>
      found(projects.get(resource_id), (project) =>
        registrySecretsBody(project, opened(project.id), opened(project.cluster_id)),
      );
  }

  function open(table: string, { id, sealed_value }: { readonly id: string; readonly sealed_value: string }): string {
    return vault.open(sealed_value, { table, row: id, column: "sealed_value" });
  }

  function openPassword({ id, sealed_password }: Selectable<RegistrySecretTable>): string {
    return vault.open(sealed_password, { table: "registry_secrets", row: id, column: "sealed_password" });
  }
}

/** With the settings of their clusters beside them. */
async function projectsOf(db: Queries, rows: readonly Untold[]) {
  const ids = [...new Set(rows.map(({ resource_id }) => resource_id))];
  if (ids.length === 0) return byId<Project & { readonly settings: SettingsRow | null }>([]);
  const projects = await db
    .selectFrom("projects")
    .leftJoin("cluster_settings", "cluster_settings.cluster_id", "projects.cluster_id")
    .selectAll("projects")
    .select((row) => row.fn.toJson("cluster_settings").as("settings"))
    .where("projects.id", "in", ids)
    .execute();
  return byId(projects);
}

const byId = <T extends { readonly id: string }>(rows: readonly T[]): ReadonlyMap<string, T> =>
  new Map(rows.map((row) => [row.id, row]));

const found = <T>(resource: T | undefined, make: (resource: T) => Body): Body | null =>
  resource === undefined ? null : make(resource);
