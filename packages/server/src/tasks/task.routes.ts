import { createTask, getTask, type TaskKind } from "@binnacle/contract";
import { boundElsewhere } from "../access/role.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { notFound, rateLimited } from "../fault.ts";
import { at, type Guard, type Input, type SignedIn, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { enqueue } from "../jobs/job.store.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { correctWindow, spendAllowance } from "../tiers/tier.store.ts";
import { findTaskJob } from "./task.store.ts";
import { jobKindOf, maySee, wireTask } from "./task.ts";

interface Body {
  readonly kind: TaskKind;
  readonly payload?: Readonly<Record<string, unknown>>;
}
type TaskInput = Input<unknown, unknown, Body>;

interface TaskCreator extends SignedIn {
  /** The cluster of the task, if there is one. */
  readonly cluster: Cluster | null;
}

function clusterIdOf({ body: { payload } }: TaskInput): string {
  const id = payload?.["cluster_id"];
  return typeof id === "string" ? id : "";
}
const editor = at(clusterPlace, "editor", clusterIdOf);

/** Every user may queue a task; a task about a cluster requires an editor of it. */
const taskCreator: Guard<TaskCreator, TaskInput> = {
  requirement: signedIn.requirement,
  async authorize(request, input) {
    if (input.body.kind !== "resync_cluster") {
      const { caller: anybody } = await signedIn.authorize(request, input);
      if (anybody.boundary) throw boundElsewhere();
      return { caller: anybody, cluster: null };
    }
    return editor.authorize(request, input);
  },
};

export function taskRoutes({ db, bus, clock }: Ports<"db" | "bus" | "clock">): Route[] {
  return [
    route(createTask, taskCreator, async ({ caller, cluster, body, change }) => {
      const spender = { userId: caller.id, tier: caller.tier, path: createTask.path };
      await correctWindow(db, spender, clock());
      return change(async ({ db: tx, record, afterCommit }) => {
        const spending = await spendAllowance(tx, spender, clock());
        if (!spending.admitted) throw rateLimited(spending.retryAfterSeconds);
        const id = newId();
        // Uses the stored id, because the one in the body may be in upper case.
        const about = cluster ? { cluster_id: cluster.id } : {};
        const payload = { ...body.payload, ...about };
        const tenant = cluster ? { tenantId: cluster.org_id } : {};
        await enqueue(tx, { id, kind: jobKindOf(body.kind), payload, createdBy: caller.id, ...tenant });
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
