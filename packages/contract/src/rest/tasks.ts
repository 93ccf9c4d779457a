import Type, { type Static } from "typebox";
import { AnyMap, FreeMap, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, where } from "../rules.ts";

const tag = "Tasks";

export const TASK_KINDS = ["ping", "resync_cluster"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export const JOB_STATUSES = ["pending", "running", "succeeded", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const Task = Type.Object(
  {
    id: Uuid(),
    kind: Type.Enum(TASK_KINDS),
    status: Type.Enum(JOB_STATUSES),
    attempts: Type.Integer({ examples: [1] }),
    result: Nullable(AnyMap({ examples: [{ pong: true }] })),
    error_message: Nullable(Type.String({ examples: ["The cluster did not answer."] })),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    started_at: Nullable(Timestamp()),
    finished_at: Nullable(Timestamp()),
  },
  { title: "Task" },
);
export type Task = Static<typeof Task>;

export const createTask = operation({
  id: "createTask",
  method: "POST",
  path: "/tasks/task",
  tag,
  summary: "Queue a task; limited per caller by the caller's tier",
  description:
    "`resync_cluster` has the operator of `payload.cluster_id` look at everything again; it needs an editor of the cluster. " +
    "Past the limit: 429 with `Retry-After`.",
  credentials: "user",
  body: Type.Object(
    {
      kind: Type.Enum(TASK_KINDS),
      payload: Type.Optional(FreeMap({ maxProperties: 50, examples: [{}] })),
    },
    {
      ...strict,
      allOf: [
        where(holds("kind", ["resync_cluster"]), "A resync is of a cluster", {
          requires: ["payload"],
          fields: { payload: { type: "object", required: ["cluster_id"], properties: { cluster_id: Uuid() } } },
        }),
      ],
    },
  ),
  success: [201, Type.Object({ id: Uuid() }, { title: "TaskCreated" })],
  failures: [403, 404, 429],
});

export const getTask = operation({
  id: "getTask",
  method: "GET",
  path: "/tasks/task/{id}",
  tag,
  summary: "Read a task of yours",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  success: [200, Task],
  failures: [404],
});
