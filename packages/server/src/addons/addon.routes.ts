import {
  type AddonInstance,
  createAddonInstance,
  getAddonDefinition,
  getAddonInstance,
  listAddonDefinitions,
  listAddonInstances,
  listAddonRevisions,
  rollBackAddonInstance,
  updateAddonInstance,
  type ValidationItem,
} from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import type { ClusterConnection, Surroundings } from "../clusters/freshness.ts";
import type { Tx } from "../database/transaction.ts";
import { invalid, notFound } from "../fault.ts";
import type { Unit } from "../http/change.runner.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { at, listOf, signedIn, wellFormed } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId, newSecret } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { lockActiveProject } from "../projects/project.store.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import type { Vault } from "../vault/vault.ts";
import {
  countRevisions,
  findRevision,
  heldSecretPaths,
  insertInstance,
  insertRevision,
  listRevisions,
  lockInstance,
  saveSecrets,
  updateInstance,
} from "./addon.store.ts";
import {
  announcementOf,
  auditedAs,
  chartVersionProblems,
  type DesiredState,
  definitionGone,
  dispatchedAddon,
  type Instance,
  listedInstance,
  newInstance,
  revised,
  revisionOf,
  type ShownInstance,
  versionOf,
  wireInstance,
  wireRevision,
} from "./addon.ts";
import { addonList, addonPlace } from "./addon-place.ts";
import {
  auditedSecrets,
  type Holder,
  type ResolvedValues,
  redactValues,
  resolveValues,
  rulesOf,
  type Values,
} from "./addon-values.ts";
import { isGuarded, statefulDowngrade } from "./downgrade.ts";

/** Expects the definitions of the catalog in order of their names. */
export function addonDefinitionRoutes({
  catalog: { addons },
  findDefinition,
}: Ports<"catalog" | "findDefinition">): Route[] {
  return [
    route(listAddonDefinitions, signedIn, async ({ query }) => {
      const { limit, offset } = pageOf(query);
      return envelope(addons.slice(offset, offset + limit), addons.length, query);
    }),

    route(getAddonDefinition, signedIn, async ({ params }) => {
      const definition = findDefinition(params.id);
      if (!definition) throw notFound("Addon definition");
      return definition;
    }),
  ];
}

export function addonRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(listAddonInstances, listOf(addonList), async ({ rows, total, query }) => {
      const now = clock();
      const data = rows.map((instance) => listedInstance(instance, now));
      return envelope(data, total, query);
    }),

    route(getAddonInstance, at(addonPlace, "viewer"), async ({ instance, reply }) => {
      sendEtag(reply, versionOf(instance));
      return wireInstance(instance, clock());
    }),

    route(listAddonRevisions, at(addonPlace, "viewer"), async ({ instance, query }) => {
      const revisions = await listRevisions(db, instance, pageOf(query));
      return envelope(revisions.map(wireRevision), await countRevisions(db, instance.id), query);
    }),
  ];
}

/** A locked row, and what was read around it. */
interface Held {
  readonly current: Instance;
  readonly surroundings: Surroundings;
}

const heldBy = (current: Instance, seen: Surroundings): Held => {
  const { last_heartbeat, session_lease_until, project_reason, project_message } = seen;
  return { current, surroundings: { last_heartbeat, session_lease_until, project_reason, project_message } };
};

/** Announces the instance to subscribers and dispatches it to its cluster. */
function deliver({ announce, dispatch }: Unit, instance: Instance, connection: ClusterConnection, now: Date) {
  announce(announcementOf(instance, connection, now));
  dispatch(instance.cluster_id, [dispatchedAddon(instance)]);
}

async function revise(
  unit: Unit,
  { current, surroundings }: Held,
  wanted: DesiredState,
  by: string,
  now: Date,
): Promise<ShownInstance> {
  const instance = revised(current, wanted, now);
  await updateInstance(unit.db, instance);
  await insertRevision(unit.db, revisionOf(instance, newId(), wanted.notes, by));
  deliver(unit, instance, surroundings, now);
  return { ...surroundings, ...instance };
}

function storeSecrets(
  tx: Tx,
  vault: Vault,
  instanceId: string,
  { given, missing }: ResolvedValues,
  now: Date,
): Promise<void> {
  const made = missing.map((path) => [path, newSecret()] as const);
  return saveSecrets(tx, vault, instanceId, new Map([...given, ...made]), now);
}

export function addonCreationRoutes({
  clock,
  vault,
  findDefinition,
}: Ports<"clock" | "vault" | "findDefinition">): Route[] {
  return [
    route(
      createAddonInstance,
      wellFormed(
        ({ body: { addon_definition_id: id = "", ...body } }) => newInstanceProblems(body, findDefinition(id)),
        at(projectPlace, "editor", ({ body }) => body.project_id),
      ),
      async ({ caller, project, body, reply, change }) => {
        const definition = findDefinition(body.addon_definition_id);
        if (!definition) throw notFound("Addon definition");
        const { name, values = {}, chart_version = definition.chart.version, notes = null } = body;
        const settled = settle(values, definition, { name, held: [] });
        const answer = await change(async (unit) => {
          const wanted = { values: settled.values, chart_version, notes };
          const instance = newInstance({ id: newId(), name, definition_id: definition.id }, project, wanted, clock());
          await lockActiveProject(unit.db, project.id);
          await insertInstance(unit.db, instance);
          await storeSecrets(unit.db, vault, instance.id, settled, clock());
          await insertRevision(unit.db, revisionOf(instance, newId(), notes, caller.email));
          deliver(unit, instance, project, clock());
          unit.record({
            action: "addon_instance.create",
            resource: auditedAs(instance),
            orgId: instance.org_id,
            changes: { project_id: project.id, addon_definition_id: definition.id, chart_version },
          });
          const { surroundings } = heldBy(instance, {
            ...project,
            project_reason: project.lifecycle_reason,
            project_message: project.lifecycle_message,
          });
          return wireInstance({ ...instance, ...surroundings }, clock());
        });
        return shown(reply, answer);
      },
    ),
  ];
}

export function addonChangeRoutes({
  clock,
  vault,
  findDefinition,
}: Ports<"clock" | "vault" | "findDefinition">): Route[] {
  return [
    route(
      updateAddonInstance,
      at(addonPlace, "editor"),
      async ({ caller, instance: seen, params, body, headers, reply, change }) => {
        const answer = await change(async (unit) => {
          const current = await lockInstance(unit.db, params.id);
          requireMatch(headers, versionOf(current));
          const definition = findDefinition(current.definition_id);
          if (!definition) throw definitionGone();
          const { notes = null, chart_version = current.chart_version } = body;
          if (body.chart_version !== undefined) refuse(chartVersionProblems(definition, chart_version));
          guardData(current, chart_version, definition, body);
          const holder = { name: current.name, held: await heldSecretPaths(unit.db, current.id) };
          const settled = body.values ? settle(body.values, definition, holder) : null;
          if (settled) await storeSecrets(unit.db, vault, current.id, settled, clock());
          const values = settled?.values ?? current.values;
          const instance = await revise(
            unit,
            heldBy(current, seen),
            { values, chart_version, notes },
            caller.email,
            clock(),
          );
          unit.record({
            action: "addon_instance.update",
            resource: auditedAs(instance),
            orgId: instance.org_id,
            changes: { values, chart_version, ...auditedSecrets(settled), ...confirmed(body) },
            before: current,
          });
          return wireInstance(instance, clock());
        });
        return shown(reply, answer);
      },
    ),

    route(
      rollBackAddonInstance,
      at(addonPlace, "editor"),
      async ({ caller, instance: seen, params, body, headers, reply, change }) => {
        const answer = await change(async (unit) => {
          const current = await lockInstance(unit.db, params.id);
          requireMatch(headers, versionOf(current));
          const revision = await findRevision(unit.db, current.id, body);
          if (!revision) throw notFound("Revision");
          guardData(current, revision.chart_version, findDefinition(current.definition_id), body);
          const held = await heldSecretPaths(unit.db, current.id);
          const wanted = {
            values: redactValues(revision.values, held, current.name),
            chart_version: revision.chart_version,
            notes: `Rollback to revision ${revision.revision_number}.`,
          };
          const instance = await revise(unit, heldBy(current, seen), wanted, caller.email, clock());
          unit.record({
            action: "addon_instance.rollback",
            resource: auditedAs(instance),
            orgId: instance.org_id,
            changes: { ...wanted, revision_number: revision.revision_number, ...confirmed(body) },
            before: { values: current.values, chart_version: current.chart_version },
          });
          return wireInstance(instance, clock());
        });
        return shown(reply, answer);
      },
    ),
  ];
}

interface GivenInstance {
  readonly name?: string;
  readonly values?: Values;
  readonly chart_version?: string;
}

/** Returns what the definition refuses of a new instance. An unknown definition refuses nothing: it is a 404. */
function newInstanceProblems(
  { name = "", values = {}, chart_version }: GivenInstance,
  definition: AddonDefinition | undefined,
): readonly ValidationItem[] {
  if (!definition) return [];
  const settled = resolveValues(values, rulesOf(definition), { name, held: [] });
  return [
    ...("problems" in settled ? inValues(settled.problems) : []),
    ...(chart_version === undefined ? [] : chartVersionProblems(definition, chart_version)),
  ];
}

const inValues = (problems: readonly ValidationItem[]): ValidationItem[] =>
  problems.map((item) => ({ ...item, loc: ["body", "values", ...item.loc] }));

/** Throws the 422 with all problems of the values. */
function settle(values: Values, definition: AddonDefinition, holder: Holder): ResolvedValues {
  const settled = resolveValues(values, rulesOf(definition), holder);
  if (!("problems" in settled)) return settled;
  throw invalid(inValues(settled.problems));
}

interface Confirmation {
  readonly allow_downgrade?: boolean;
}

/** A confirmed downgrade is on record with who has confirmed it. */
const confirmed = ({ allow_downgrade }: Confirmation) => (allow_downgrade ? { allow_downgrade } : {});

function guardData(
  { name, phase, chart_version: from }: Instance,
  to: string,
  definition: AddonDefinition | undefined,
  { allow_downgrade = false }: Confirmation,
): void {
  // One that is being deleted is refused for that.
  if (phase !== "deleting" && !allow_downgrade && isGuarded({ from, to }, definition)) {
    throw statefulDowngrade(`The addon instance ${name}`, { from, to });
  }
}

function refuse(problems: readonly ValidationItem[]): void {
  if (problems.length > 0) throw invalid(problems);
}

function shown(reply: FastifyReply, answer: AddonInstance): AddonInstance {
  sendEtag(reply, versionOf(answer));
  return answer;
}
