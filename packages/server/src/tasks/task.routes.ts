import { createTask, getTask } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { notFound, rateLimited } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { enqueue } from "../jobs/job.store.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import { bringWindowBack, spendAllowance } from "../tiers/tier.store.ts";
import { taskMaker } from "./task.guard.ts";
import { findTaskJob } from "./task.store.ts";
import { jobKindOf, maySee, wireTask } from "./task.ts";

export function taskRoutes(db: Queries, bus: Bus, clock: Clock): Route[] {
  return [
    route(createTask, taskMaker, async ({ caller, cluster, body, change }) => {
      const spender = { userId: caller.id, tier: caller.tier, path: createTask.path };
      await bringWindowBack(db, spender, clock());
      return change(async ({ db: tx, record, afterCommit }) => {
        const spending = await spendAllowance(tx, spender, clock());
        if (!spending.admitted) throw rateLimited(spending.retryAfterSeconds);
        const id = newId();
        // Operators are found by the id on record: the one in the body may be written in capitals.
        const about = cluster ? { cluster_id: cluster.id } : {};
        const payload = { ...body.payload, ...about };
        await enqueue(tx, { id, kind: jobKindOf(body.kind), payload, createdBy: caller.id });
        record({
          action: "task.create",
          resource: { type: "task", id, name: body.kind },
          orgId: cluster?.org_id ?? null,
          changes: about,
        });
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return { id };
      });
    }),

    route(getTask, signedIn, async ({ caller, params }) => {
      const job = await findTaskJob(db, params.id);
      if (!job || !maySee(job, caller)) throw notFound("Task");
      return wireTask(job);
    }),
  ];
}
