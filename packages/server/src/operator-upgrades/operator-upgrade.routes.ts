import {
  cancelOperatorUpgrade,
  DEFAULT_UPGRADE_BATCH,
  getOperatorUpgrade,
  listOperatorUpgrades,
  type OperatorUpgrade,
  previewOperatorUpgrade,
  startOperatorUpgrade,
} from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { at, type Input } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import {
  countPhases,
  findCandidates,
  findUpgrade,
  insertUpgrade,
  listEntries,
  listUpgrades,
  lockUpgrade,
  requestCancellation,
  savePlan,
} from "./operator-upgrade.store.ts";
import {
  countsOf,
  judged,
  nothingToUpgrade,
  planOf,
  previewOf,
  type Upgrade,
  wireSummary,
  wireUpgrade,
} from "./operator-upgrade.ts";

type InOrg = Input<{ readonly org_id: string }, unknown, unknown>;
const orgAdmin = at(orgPlace, "admin", ({ params }: InOrg) => params.org_id);

async function readUpgrade(db: Queries, upgrade: Upgrade): Promise<OperatorUpgrade> {
  const counts = (await countPhases(db, [upgrade.id])).get(upgrade.id) ?? countsOf({});
  return wireUpgrade(upgrade, counts, await listEntries(db, upgrade.id));
}

const known = (upgrade: Upgrade | undefined, orgId: string): Upgrade => {
  if (upgrade?.org_id !== orgId) throw notFound("Upgrade");
  return upgrade;
};

const resourceOf = ({ id, to_version }: Upgrade) => ({ type: "operator_upgrade", id, name: to_version });

export function operatorUpgradeRoutes({
  db,
  bus,
  clock,
  operatorChart,
}: Ports<"db" | "bus" | "clock" | "operatorChart">): Route[] {
  return [
    route(startOperatorUpgrade, orgAdmin, async ({ org, caller, body, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const { version, image } = operatorChart;
        const now = clock();
        const found = await findCandidates(tx, org.id, body.cluster_ids ?? null);
        if (body.cluster_ids && found.length !== body.cluster_ids.length) throw notFound("Cluster");
        const entries = judged(found, version, now, Boolean(body.cluster_ids));
        const refused = entries.flatMap(({ candidate, reason }) => (reason ? [{ name: candidate.name, reason }] : []));
        if (refused.length === entries.length) throw nothingToUpgrade(refused);
        const { batch_size = DEFAULT_UPGRADE_BATCH, stop_on_failure = true } = body;
        const id = newId();
        await insertUpgrade(
          tx,
          {
            id,
            org_id: org.id,
            to_version: version,
            digest: image?.digest ?? null,
            batch_size,
            stop_on_failure,
            status: "running",
            cancel_requested_at: null,
            created_by: caller.id,
            created_at: now,
            updated_at: now,
            finished_at: null,
          },
          entries,
        );
        const upgrade = known(await findUpgrade(tx, id), org.id);
        const clusters = entries.length - refused.length;
        record({
          action: "operator_upgrade.start",
          resource: resourceOf(upgrade),
          orgId: org.id,
          changes: { to_version: version, batch_size, stop_on_failure, clusters, skipped: refused.length },
        });
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return readUpgrade(tx, upgrade);
      }),
    ),

    route(previewOperatorUpgrade, orgAdmin, async ({ org }) => {
      const { version } = operatorChart;
      return previewOf(judged(await findCandidates(db, org.id, null), version, clock(), false), version);
    }),

    route(listOperatorUpgrades, orgAdmin, async ({ org, query }) => {
      const { upgrades, total } = await listUpgrades(db, org.id, pageOf(query));
      const counts = await countPhases(
        db,
        upgrades.map(({ id }) => id),
      );
      const rows = upgrades.map((upgrade) => wireSummary(upgrade, counts.get(upgrade.id) ?? countsOf({})));
      return envelope(rows, total, query);
    }),

    route(getOperatorUpgrade, orgAdmin, async ({ org, params }) =>
      readUpgrade(db, known(await findUpgrade(db, params.id), org.id)),
    ),

    route(cancelOperatorUpgrade, orgAdmin, async ({ org, params, change }) =>
      change(async ({ db: tx, record, unchanged }) => {
        const upgrade = known(await lockUpgrade(tx, params.id), org.id);
        if (upgrade.status !== "running" || upgrade.cancel_requested_at !== null) {
          unchanged();
          return readUpgrade(tx, upgrade);
        }
        const now = clock();
        await requestCancellation(tx, upgrade.id, now);
        const counts = (await countPhases(tx, [upgrade.id])).get(upgrade.id) ?? countsOf({});
        await savePlan(tx, upgrade.id, planOf({ ...upgrade, cancel_requested_at: now }, counts), now);
        record({ action: "operator_upgrade.cancel", resource: resourceOf(upgrade), orgId: org.id });
        return readUpgrade(tx, known(await findUpgrade(tx, upgrade.id), org.id));
      }),
    ),
  ];
}
