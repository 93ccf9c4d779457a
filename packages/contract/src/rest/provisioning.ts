import Type, { type Static } from "typebox";
import { Nullable, Page, PageQuery, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import {
  PROVISIONING_ACTIONS,
  PROVISIONING_ERROR_CODES,
  PROVISIONING_PHASES,
  PROVISIONING_STATUSES,
} from "../states.ts";

const tag = "Provisioning jobs";
const params = Type.Object({ id: Uuid() });

export const ProvisioningJob = Type.Object(
  {
    id: Uuid(),
    cluster_id: Uuid(),
    credential_id: Nullable(Uuid()),
    action: Type.Enum(PROVISIONING_ACTIONS),
    status: Type.Enum(PROVISIONING_STATUSES),
    phase: Type.Enum(PROVISIONING_PHASES, { description: "How far it has come." }),
    progress_pct: Type.Integer({ minimum: 0, maximum: 100, examples: [40] }),
    error_message: Nullable(Type.String({ examples: ["The credential was refused."] })),
    error_code: Nullable(
      Type.Enum(PROVISIONING_ERROR_CODES, { description: "The cause for programs; null unless the job has failed." }),
    ),
    node: Nullable(
      Type.String({
        description: "The node whose machine is replaced, one after the other in an upgrade.",
        examples: ["agent-1"],
      }),
    ),
    kubernetes_release: Nullable(
      Type.String({ description: "The release of k3s that an upgrade leads to.", examples: ["v1.37.1+k3s1"] }),
    ),
    force: Type.Boolean({ description: "Whether nodes go although the data of their local volumes is lost." }),
    dry_run: Type.Boolean({ description: "Whether it ends with its plan and changes nothing." }),
    plan_job_id: Nullable(Uuid("The plan outside of which it changes nothing.")),
    retry_at: Nullable(
      Timestamp(
        "When a pending job goes on by itself, whose provider has asked it to wait or that waits for a snapshot; null for every other.",
      ),
    ),
    cancel_requested_at: Nullable(Timestamp()),
    attempts: Type.Integer({ minimum: 0, examples: [1] }),
    desired_node_count: Nullable(
      Type.Integer({ description: "Of the control plane and the agents together; null for a destroy.", examples: [3] }),
    ),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    started_at: Nullable(Timestamp()),
    finished_at: Nullable(Timestamp()),
  },
  { title: "ProvisioningJob" },
);
export type ProvisioningJob = Static<typeof ProvisioningJob>;

/** A change that a plan would make to one resource. */
const PlannedChange = Type.Object(
  {
    action: Type.Enum(["create", "update", "replace", "delete", "import"] as const),
    address: Type.String({ description: "The resource in the module.", examples: ['aws_instance.agent["agent-1"]'] }),
    type: Type.String({ examples: ["aws_instance"] }),
    id: Nullable(Type.String({ description: "The id in the cloud; null before it exists.", examples: ["i-0abc"] })),
  },
  { title: "PlannedChange" },
);

/** A volume whose data stays or goes with the change. */
const PlannedVolume = Type.Object(
  {
    action: Type.Enum(["keep", "delete"] as const),
    id: Type.String({ description: "The disk in the cloud, or the volume of a node.", examples: ["vol-0abc"] }),
    claim: Nullable(
      Type.String({ description: "Namespace and name; null if not known.", examples: ["shop/data-db-0"] }),
    ),
    node: Nullable(
      Type.String({ description: "The node whose machine has the data; null for a disk.", examples: ["agent-1"] }),
    ),
    reason: Type.String({ examples: ["Its claim is retained."] }),
  },
  { title: "PlannedVolume" },
);
export type PlannedVolume = Static<typeof PlannedVolume>;

export const PriceEstimate = Type.Object(
  {
    monthly: Nullable(Type.Number({ description: "Null where a price is not known.", examples: [142.35] })),
    currency: Type.String({ examples: ["USD"] }),
    prices_of: Type.String({ format: "date", description: "The date of the price table.", examples: ["2026-11-01"] }),
    note: Type.String({ examples: ["On-demand prices without traffic and taxes."] }),
    items: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["t3.large"] }),
        count: Type.Integer({ examples: [3] }),
        monthly: Nullable(Type.Number({ examples: [60.74] })),
      }),
    ),
  },
  { title: "PriceEstimate", description: "An estimate of what the cluster costs a month after the change." },
);
export type PriceEstimate = Static<typeof PriceEstimate>;

export const ProvisioningPlan = Type.Object(
  {
    job_id: Uuid(),
    planned_at: Timestamp(),
    summary: Type.Object({ add: Type.Integer(), change: Type.Integer(), remove: Type.Integer() }),
    changes: Type.Array(PlannedChange),
    volumes: Type.Array(PlannedVolume, {
      description:
        "Of a destruction the disks that Kubernetes has made; those that are not known to be deletable are kept. Otherwise the " +
        "volumes whose data goes with a node, of very many the first.",
    }),
    estimate: Nullable(PriceEstimate),
  },
  { title: "ProvisioningPlan" },
);
export type ProvisioningPlan = Static<typeof ProvisioningPlan>;

export const ProvisioningLogLine = Type.Object(
  {
    position: Type.Integer({ description: "Grows with every line; also the id of the event.", examples: [41] }),
    time: Timestamp(),
    line: Type.String({ examples: ["Plan: 7 to add, 0 to change."] }),
  },
  { title: "ProvisioningLogLine" },
);
export type ProvisioningLogLine = Static<typeof ProvisioningLogLine>;

const ProvisioningLogStream = Type.String({
  description:
    "Server-sent events: `event: log` with a `ProvisioningLogLine` as its data and its position as its id, and `event: end` " +
    "with the `status` of the job once it has ended; null where the job is gone with its cluster. A stream that ends without " +
    "it is opened again with `Last-Event-ID`: no line is lost or repeated. It ends when the access token expires, its session " +
    "ends or you lose the cluster. It counts among the 20 log streams that a user may have open on a server; one more is a 429.",
  contentSchema: ProvisioningLogLine,
  examples: [
    'id: 41\nevent: log\ndata: {"position":41,"time":"2026-01-31T09:30:00.000Z","line":"Plan: 7 to add."}\n\n' +
      'event: end\ndata: {"status":"succeeded"}\n\n',
  ],
});

export const listProvisioningJobs = operation({
  id: "listProvisioningJobs",
  method: "GET",
  path: "/clusters/{id}/provisioning-jobs",
  tag,
  summary: "List a cluster's provisioning jobs, newest first",
  description: "Empty for a bring-your-own cluster.",
  credentials: "user",
  params,
  query: PageQuery,
  success: [200, Page(ProvisioningJob)],
  failures: [404],
});

export const getProvisioningJob = operation({
  id: "getProvisioningJob",
  method: "GET",
  path: "/provisioning-jobs/{id}",
  tag,
  summary: "Read the status and the current phase of a provisioning job",
  credentials: "user",
  params,
  success: [200, ProvisioningJob],
  failures: [404],
});

export const getProvisioningLogs = operation({
  id: "getProvisioningLogs",
  method: "GET",
  path: "/provisioning-jobs/{id}/logs",
  tag,
  summary: "Read what Terraform and the bootstrap have printed",
  description:
    "Secrets are masked. `logs` is null while nothing has been printed. With `Accept: text/event-stream` the lines are " +
    "followed until the job has ended; `Last-Event-ID` continues after the line that was read last.",
  credentials: "user",
  params,
  success: [200, Type.Object({ logs: Nullable(Type.String({ examples: ["Plan: 7 to add, 0 to change.\n"] })) })],
  streamed: ProvisioningLogStream,
  failures: [404, 429],
});

export const getProvisioningPlan = operation({
  id: "getProvisioningPlan",
  method: "GET",
  path: "/provisioning-jobs/{id}/plan",
  tag,
  summary: "Read what a provisioning job adds, changes and removes",
  description: "404 until the job has made its plan. The price is an estimate.",
  credentials: "user",
  params,
  success: [200, ProvisioningPlan],
  failures: [404],
});

export const cancelProvisioningJob = operation({
  id: "cancelProvisioningJob",
  method: "POST",
  path: "/provisioning-jobs/{id}/cancel",
  tag,
  summary: "Stop a provisioning job; org admin",
  description:
    "A pending job fails at once. A running one stops after the resource that it is working on; until then it is `running` " +
    "with a `cancel_requested_at`. Either ends as `failed` with the code `cancelled` and can be retried. 409 once it has ended.",
  credentials: "user",
  params,
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});

export const retryProvisioningJob = operation({
  id: "retryProvisioningJob",
  method: "POST",
  path: "/provisioning-jobs/{id}/retry",
  tag,
  summary: "Run a failed provisioning job again; org admin",
  description:
    "The same job goes on from the infrastructure that is there: nothing that exists is created anew. " +
    "409 unless the job has failed and is the newest of its cluster. A dry run is not retried; ask for a new plan.",
  credentials: "user",
  params,
  success: [202, ProvisioningJob],
  failures: [403, 404, 409],
});
