import {
  type AddonInstance,
  createAddonInstance,
  deleteAddonInstance,
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
import type { Clock } from "../clock.ts";
import type { ClusterConnection, Surroundings } from "../clusters/freshness.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { volumesBefore } from "../deletions/deletion-outlook.runner.ts";
import { confirmedWithin } from "../dispatch/confirmation.store.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { invalid, notFound } from "../fault.ts";
import type { Unit } from "../http/change.runner.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { addonInstanceList, inProject, onInstance, signedIn, wellFormed } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { newId, newSecret } from "../id.adapter.ts";
import { lockActiveProject } from "../projects/project.store.ts";
import type { Vault } from "../vault/vault.ts";
import {
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
  deleting,
  deletionUnconfirmed,
  dispatchedAddon,
  type Instance,
  listedInstance,
  newInstance,
  operatorUnreachable,
  revised,
  revisionOf,
  type ShownInstance,
  versionOf,
  wireInstance,
  wireRevision,
} from "./addon.ts";
import {
  auditedSecrets,
  type Holder,
  type ResolvedValues,
  redactValues,
  resolveValues,
  type Values,
  valueProblems,
} from "./addon-values.ts";
import { isGuarded, statefulDowngrade } from "./downgrade.ts";

/** Expects `definitions` in order of their names. */
export function addonDefinitionRoutes(definitions: readonly AddonDefinition[]): Route[] {
  return [
    route(listAddonDefinitions, signedIn, async ({ query }) => {
      const { limit, offset } = pageOf(query);
      return envelope(definitions.slice(offset, offset + limit), definitions.length, query);
    }),

    route(getAddonDefinition, signedIn, async ({ params }) => {
      const definition = definitions.find(({ id }) => id === params.id.toLowerCase());
      if (!definition) throw notFound("Addon definition");
      return definition;
    }),
  ];
}

export function addonRoutes(db: Queries, clock: Clock): Route[] {
  return [
    route(listAddonInstances, addonInstanceList, async ({ rows, total, query }) => {
      const now = clock();
      return envelope(
        rows.map((instance) => listedInstance(instance, now)),
        total,
        query,
      );
    }),

    route(getAddonInstance, onInstance("viewer"), async ({ instance, reply }) => {
      sendEtag(reply, versionOf(instance));
      return wireInstance(instance, clock());
    }),

    route(listAddonRevisions, onInstance("viewer"), async ({ instance, query }) => {
      const revisions = await listRevisions(db, instance, pageOf(query));
      return envelope(revisions.map(wireRevision), instance.revision_number, query);
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

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly operators: Pick<OperatorRequests, "isConnected" | "observe">;
  readonly confirmWithinMs?: number;
}

/** The longest time that a DELETE waits for the cluster. The deletion itself continues after that. */
const CONFIRM_WITHIN_MS = 10_000;

export function addonChangeRoutes(
  { db, clock, vault, operators, confirmWithinMs = CONFIRM_WITHIN_MS }: Ports,
  definitions: readonly AddonDefinition[],
): Route[] {
  const definitionOf = (id: string) => definitions.find((definition) => definition.id === id.toLowerCase());

  /** Announces the instance to subscribers and dispatches it to its cluster. */
  async function deliver(
    { announce, dispatch }: Unit,
    instance: Instance,
    connection: ClusterConnection,
    resource = dispatchedAddon(instance),
  ) {
    announce(announcementOf(instance, connection, clock()));
    await dispatch(instance.cluster_id, [resource]);
  }

  async function revise(
    unit: Unit,
    { current, surroundings }: Held,
    wanted: DesiredState,
    by: string,
  ): Promise<ShownInstance> {
    const instance = revised(current, wanted, clock());
    await updateInstance(unit.db, instance);
    await insertRevision(unit.db, revisionOf(instance, newId(), wanted.notes, by));
    await deliver(unit, instance, surroundings);
    return { ...surroundings, ...instance };
  }

  function storeSecrets(tx: Tx, instanceId: string, { given, missing }: ResolvedValues): Promise<void> {
    const made = missing.map((path) => [path, newSecret()] as const);
    return saveSecrets(tx, vault, instanceId, new Map([...given, ...made]), clock());
  }

  return [
    route(
      createAddonInstance,
      wellFormed(
        ({ body: { addon_definition_id: id = "", ...body } }) => newInstanceProblems(body, definitionOf(id)),
        inProject("editor", ({ body }) => body.project_id),
      ),
      async ({ caller, project, body, reply, change }) => {
        const definition = definitionOf(body.addon_definition_id);
        if (!definition) throw notFound("Addon definition");
        const { name, values = {}, chart_version = definition.chart.version, notes = null } = body;
        const settled = settle(values, definition, { name, held: [] });
        const answer = await change(async (unit) => {
          const wanted = { values: settled.values, chart_version, notes };
          const instance = newInstance({ id: newId(), name, definition_id: definition.id }, project, wanted, clock());
          await lockActiveProject(unit.db, project.id);
          await insertInstance(unit.db, instance);
          await storeSecrets(unit.db, instance.id, settled);
          await insertRevision(unit.db, revisionOf(instance, newId(), notes, caller.email));
          await deliver(unit, instance, project);
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

    route(
      updateAddonInstance,
      onInstance("editor"),
      async ({ caller, instance: seen, params, body, headers, reply, change }) => {
        const answer = await change(async (unit) => {
          const current = await lockInstance(unit.db, params.id);
          requireMatch(headers, versionOf(current));
          const definition = definitionOf(current.definition_id);
          if (!definition) throw definitionGone();
          const { notes = null, chart_version = current.chart_version } = body;
          if (body.chart_version !== undefined) refuse(chartVersionProblems(definition, chart_version));
          guardData(current, chart_version, definition, body);
          const holder = { name: current.name, held: await heldSecretPaths(unit.db, current.id) };
          const settled = body.values ? settle(body.values, definition, holder) : null;
          if (settled) await storeSecrets(unit.db, current.id, settled);
          const values = settled?.values ?? current.values;
          const instance = await revise(unit, heldBy(current, seen), { values, chart_version, notes }, caller.email);
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
      onInstance("editor"),
      async ({ caller, instance: seen, params, body, headers, reply, change }) => {
        const answer = await change(async (unit) => {
          const current = await lockInstance(unit.db, params.id);
          requireMatch(headers, versionOf(current));
          const revision = await findRevision(unit.db, current.id, body);
          if (!revision) throw notFound("Revision");
          guardData(current, revision.chart_version, definitionOf(current.definition_id), body);
          const held = await heldSecretPaths(unit.db, current.id);
          const wanted = {
            values: redactValues(revision.values, held, current.name),
            chart_version: revision.chart_version,
            notes: `Rollback to revision ${revision.revision_number}.`,
          };
          const instance = await revise(unit, heldBy(current, seen), wanted, caller.email);
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

    route(deleteAddonInstance, onInstance("editor"), async ({ instance: seen, headers, change }) => {
      requireMatch(headers, versionOf(seen));
      if (seen.phase !== "deleting" && !(await operators.isConnected(seen.cluster_id))) throw operatorUnreachable();
      const { cluster_id: clusterId, namespace, name: addonInstance } = seen;
      const isFirst = seen.phase !== "deleting";
      const changes = isFirst ? await volumesBefore(operators, { clusterId, namespace, addonInstance }) : {};
      // The deletion is stored before it is sent, so the hub repeats it until the cluster confirms it, whatever fails
      // in between.
      await change(async (unit) => {
        const current = await lockInstance(unit.db, seen.id);
        if (current.phase === "deleting") return unit.unchanged();
        unit.record({ action: "addon_instance.delete", resource: auditedAs(current), orgId: current.org_id, changes });
        const instance = deleting(current, clock());
        await updateInstance(unit.db, instance);
        await deliver(unit, instance, seen, removalOf(dispatchedAddon(instance)));
      });
      if (!(await confirmedWithin(db, seen.cluster_id, dispatchedAddon(seen), confirmWithinMs)))
        throw deletionUnconfirmed();
      return null;
    }),
  ];
}

const rulesOf = (definition: AddonDefinition) => ({
  ...definition,
  check: (candidate: Values) => valueProblems(definition.values_schema, candidate),
});

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
