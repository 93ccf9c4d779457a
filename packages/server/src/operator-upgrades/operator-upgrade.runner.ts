import { type ObservedUpgrade, OPERATOR_UPGRADE_LIMITS } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { clustersById } from "../clusters/cluster.store.ts";
import { clusterAnnouncement } from "../clusters/status.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { publishEvents } from "../events/event.ts";
import { logAnnouncements } from "../events/event-log.store.ts";
import { Fault } from "../fault.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { lockHeld } from "../jobs/job.store.ts";
import { JOBS_TOPIC, LeaseLost } from "../jobs/job.ts";
import type { JobHandler } from "../jobs/running-job.runner.ts";
import {
  countPhases,
  enqueueStep,
  findUpgrade,
  lockUpgrade,
  runningEntries,
  saveOutcome,
  savePlan,
} from "./operator-upgrade.store.ts";
import { countsOf, outcomeOf, planOf, type Upgrade, type UpgradeEntry } from "./operator-upgrade.ts";

const ASK_EVERY_MS = 5_000;
/** A step only reads and repeats, so it is tried until the database is back: the upgrade would stay under way for ever. */
const MAX_ATTEMPTS = 1_000;

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly operators: Pick<OperatorRequests, "upgrade">;
  readonly askEveryMs?: number;
}

/**
 * One step of an upgrade: asks the operators that are being upgraded, stores what they answer, and begins the next ones. The step
 * after it is a job of its own, so that no worker is held for hours and a restart loses nothing.
 */
export function operatorUpgradeHandler({ db, bus, clock, operators, askEveryMs = ASK_EVERY_MS }: Ports): JobHandler {
  async function ask(
    { digest, to_version, id }: Upgrade,
    { cluster_id }: UpgradeEntry,
  ): Promise<ObservedUpgrade | Fault> {
    try {
      return await operators.upgrade(cluster_id, {
        name: "upgrade_operator",
        upgrade_id: id,
        version: to_version,
        digest,
        ready_within_seconds: OPERATOR_UPGRADE_LIMITS.readyWithinSeconds,
      });
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
  }

  return {
    maxAttempts: MAX_ATTEMPTS,
    async run(job, { fence }) {
      const { upgrade_id: id } = job.payload as { upgrade_id: string };
      const upgrade = await findUpgrade(db, id);
      if (upgrade?.status !== "running") return {};
      const running = await runningEntries(db, id);
      const answers = await Promise.all(running.map(async (entry) => [entry, await ask(upgrade, entry)] as const));
      const now = clock();
      const { events, isDue } = await inTransaction(db, async (tx) => {
        if (!(await lockHeld(tx, { id: job.id, fence })))
          throw new LeaseLost("Another worker has claimed the upgrade.");
        const current = await lockUpgrade(tx, id);
        if (!current) return { events: [], isDue: false };
        const settled: string[] = [];
        for (const [entry, answer] of answers) {
          const outcome = outcomeOf(answer, entry.started_at ?? now, now);
          if (outcome.phase === entry.phase && outcome.reason === entry.reason) continue;
          await saveOutcome(tx, id, entry.cluster_id, outcome, now);
          settled.push(entry.cluster_id);
        }
        const plan = planOf(current, (await countPhases(tx, [id])).get(id) ?? countsOf({}));
        const planned = await savePlan(tx, id, plan, now);
        if (plan.status === "running") await enqueueStep(tx, upgrade, plan.start > 0 ? 0 : askEveryMs);
        const changed = await clustersById(tx, [...settled, ...planned]);
        const announcements = changed.map((cluster) => clusterAnnouncement(cluster, now));
        return { events: await logAnnouncements(tx, announcements, now), isDue: plan.start > 0 };
      });
      if (isDue) bus.publish(JOBS_TOPIC, {});
      publishEvents(bus, events);
      return {};
    },
  };
}
