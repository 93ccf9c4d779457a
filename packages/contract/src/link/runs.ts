import Type, { type Static } from "typebox";
import { Nullable, Timestamp, Uuid } from "../fields.ts";
import { RUN_STATUSES } from "../states.ts";
import { LONGEST_MESSAGE } from "./text.ts";

/** A run is a Job in the cluster, which is all that is kept of it. */
export const RUN_KEPT_SECONDS = 24 * 60 * 60;

export const ComponentRun = Type.Object(
  {
    id: Uuid(),
    component: Type.String({ maxLength: 63, examples: ["web"] }),
    status: Type.Enum(RUN_STATUSES),
    exit_code: Nullable(
      Type.Integer({ description: "Null until it has ended, and where it never began.", examples: [0] }),
    ),
    message: Nullable(Type.String({ maxLength: LONGEST_MESSAGE, examples: ["It ended with the exit code 1."] })),
    created_at: Nullable(Timestamp()),
    started_at: Nullable(Timestamp()),
    finished_at: Nullable(Timestamp()),
  },
  { title: "ComponentRun" },
);
export type ComponentRun = Static<typeof ComponentRun>;

const place = { namespace: Type.String(), app: Type.String(), run_id: Uuid() };
const Words = Nullable(Type.Array(Type.String(), { maxItems: 200 }));

export const RunRequests = {
  run: Type.Object({
    name: Type.Literal("run"),
    ...place,
    component: Type.String(),
    /** Null leaves those of the workload. */
    command: Words,
    args: Words,
    /** In addition to those of the workload, or in their place. */
    env: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), { maxItems: 500 }),
  }),
  run_status: Type.Object({ name: Type.Literal("run_status"), ...place }),
} as const;
export type RunRequest = Static<typeof RunRequests.run>;
export type RunStatusRequest = Static<typeof RunRequests.run_status>;

/** Null where there is no such run, or it is not kept any more. */
export const RunAnswer = Type.Object({ run: Nullable(ComponentRun) });
