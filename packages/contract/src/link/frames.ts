import Type, { type Static, type TSchema } from "typebox";
import { Nullable, Timestamp, Uuid } from "../fields.ts";
import { Metrics } from "../metrics.ts";
import { LogLine } from "../rest/app-operations.ts";
import { MAX_CHART_REPOSITORIES } from "../rest/chart-repositories.ts";
import { DRIFT_POLICIES } from "../rest/orgs.ts";
import { DESIRED_KINDS, type DesiredKind } from "../states.ts";
import { DESIRED_BODIES, type DesiredBodies } from "./desired.ts";
import { DetachRequest } from "./detach.ts";
import { Chunk, EXEC_FAILURES, ExecStream, TerminalSize } from "./exec.ts";
import { InfrastructureAnswers, InfrastructureRequests } from "./infrastructure.ts";
import { LogStream } from "./log-stream.ts";
import { ObservationRequests, ObservedAnswers } from "./observed.ts";
import { OperatorUpgradeAnswer, OperatorUpgradeRequest } from "./operator-upgrade.ts";
import { LINK_LIMITS } from "./protocol.ts";
import { Report, type Reports } from "./report.ts";
import { RunAnswer, RunRequests } from "./runs.ts";
import { Message } from "./text.ts";

/*
 * One JSON object a frame, told apart by `type`. `id` names a frame that is answered, `ref` the one that is answered by
 * this. Every frame but the first of each side carries the `session` that the hub has given. Fields that a reader does
 * not know are ignored, types that it does not know end the session.
 */

const id = { id: Uuid() };
const ref = { ref: Uuid() };
const session = { session: Uuid() };

const Count = Type.Integer({ minimum: 0 });
/** Names what is dispatched to a cluster: `app/shop/web`. */
const Key = Type.String({
  maxLength: 200,
  pattern: `^(${DESIRED_KINDS.join("|")})(/[a-z0-9.-]+){1,2}$`,
});
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });
/** The span that a frame continues, as W3C Trace Context writes it. Left out where nobody traces. */
const trace = { traceparent: Type.Optional(Type.String({ pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$" })) };

/** A stored resource as both sides name it: the same entry means the same content. */
export const InventoryEntry = Type.Object({ key: Key, resource_id: Uuid(), generation: Count, hash: Hash });
export type InventoryEntry = Static<typeof InventoryEntry>;
const named = InventoryEntry.properties;

export const ClusterFacts = Type.Object({
  kubernetes_version: Type.String({ maxLength: 100 }),
  node_count: Count,
  capacity: Type.Object({ cpu_cores: Type.Number(), memory_bytes: Type.Number(), pods: Count }),
});
export type ClusterFacts = Static<typeof ClusterFacts>;

const Hello = Type.Object({
  type: Type.Literal("hello"),
  ...id,
  versions: Type.Array(Type.Integer(), { minItems: 1, maxItems: 20 }),
  operator_version: Type.String({ maxLength: 100 }),
  facts: ClusterFacts,
  /** The last revision that was told in full; null where none ever was. */
  revision: Nullable(Count),
  /** SHA-256 of `inventoryText`. */
  digest: Hash,
  /** Names of requests, beyond `metrics`, that the operator can answer. Left out by one that knows no others. */
  requests: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 50 })),
  /** It does not touch what is suspended. Left out by one that does not know of it, and reconciles all the same. */
  suspends: Type.Optional(Type.Boolean()),
});
/** All that the cluster holds, in pages; the last one has `more: false`. Asked for by a `welcome` that says so. */
const Inventory = Type.Object({
  type: Type.Literal("inventory"),
  ...session,
  entries: Type.Array(InventoryEntry, { maxItems: LINK_LIMITS.inventoryPage }),
  more: Type.Boolean(),
});
/** The resource is stored in the cluster, or its removal is. */
const Ack = Type.Object({ type: Type.Literal("ack"), ...ref, ...session, key: Key, generation: Count });
const Nack = Type.Object({
  type: Type.Literal("nack"),
  ...ref,
  ...session,
  key: Key,
  generation: Count,
  /** `stale`: the cluster has a later generation. `unable`: try again later. `invalid`: it can never be stored. */
  code: Type.Enum(["stale", "unable", "invalid"]),
  message: Message,
});
const Status = Type.Object({
  type: Type.Literal("status"),
  ...id,
  ...session,
  key: Key,
  resource_id: Uuid(),
  generation: Count,
  report: Type.Unsafe<Reports[DesiredKind]>(Type.Union(DESIRED_KINDS.map((kind) => Report[kind]))),
  ...trace,
});
const Heartbeat = Type.Object({ type: Type.Literal("heartbeat"), ...session, facts: Type.Optional(ClusterFacts) });
const Response = Type.Object({
  type: Type.Literal("response"),
  ...ref,
  ...session,
  answer: Type.Union([
    Type.Object({ metrics: Nullable(Type.Omit(Metrics, ["range"])) }),
    Type.Object({ resources: ObservedAnswers.resources }),
    Type.Object({ events: ObservedAnswers.events }),
    Type.Object({ deletion: ObservedAnswers.deletion }),
    RunAnswer,
    ...InfrastructureAnswers,
    OperatorUpgradeAnswer,
    Type.Object({ done: Type.Literal(true) }),
    Type.Object({ error: Type.Object({ code: Type.Enum(["not_found", "unavailable", "failed"]), message: Message }) }),
  ]),
});
const StreamData = Type.Object({
  type: Type.Literal("stream_data"),
  ...ref,
  ...session,
  lines: Type.Array(LogLine, { maxItems: 1_000 }),
  /** Lines that were lost before these, because nobody took them in time. */
  dropped: Count,
});
const StreamEnd = Type.Object({
  type: Type.Literal("stream_end"),
  ...ref,
  ...session,
  error: Nullable(Message),
  /** Of an exec: why there is an error, and the exit code of a command that has ended. */
  code: Type.Optional(Type.Enum(EXEC_FAILURES)),
  exit_code: Type.Optional(Type.Integer()),
});
/** Where an exec will run once it has credit, and how much input it takes before it gives credit for more. */
const StreamTarget = Type.Object({
  type: Type.Literal("stream_target"),
  ...ref,
  ...session,
  pod: Type.String({ maxLength: 253 }),
  container: Type.String({ maxLength: 253 }),
  credit_bytes: Count,
});
/** Output of an exec. It takes of the credit as many bytes as it stands for. */
const StreamOutput = Type.Object({
  type: Type.Literal("stream_output"),
  ...ref,
  ...session,
  channel: Type.Enum(["stdout", "stderr"]),
  data: Chunk,
});

/** Lets the other side of a stream send more: an operator its lines and output, a hub the input of an exec. */
const StreamCredit = Type.Object({ type: Type.Literal("stream_credit"), ...ref, ...session, credit_bytes: Count });

/** The state of a Shipwright BuildRun or a kpack Build. */
const Build = Type.Object({
  type: Type.Literal("build"),
  ...session,
  namespace: Type.String({ maxLength: 63 }),
  name: Type.String({ maxLength: 253 }),
  source: Type.Enum(["shipwright", "kpack"]),
  state: Type.Enum(["pending", "running", "succeeded", "failed"]),
  reason: Nullable(Type.String({ maxLength: 200 })),
  message: Nullable(Message),
  image: Nullable(Type.String({ maxLength: 1_024 })),
  started_at: Nullable(Timestamp()),
  finished_at: Nullable(Timestamp()),
});

const Amounts = Type.Object({ cpu_cores: Type.Number({ minimum: 0 }), memory_bytes: Type.Number({ minimum: 0 }) });
/** One look at what is used, for clusters without a Prometheus. */
const Samples = Type.Object({
  type: Type.Literal("samples"),
  ...session,
  at: Timestamp(),
  used: Nullable(Amounts),
  capacity: Amounts,
  components: Type.Array(
    Type.Object({
      namespace: Type.String({ maxLength: 63 }),
      app: Type.String({ maxLength: 63 }),
      component: Type.String({ maxLength: 63 }),
      ...Amounts.properties,
    }),
    { maxItems: 5_000 },
  ),
});
/** The new token is stored; the old one is not needed any more. */
const TokenStored = Type.Object({ type: Type.Literal("token_stored"), ...ref, ...session });

export const OPERATOR_FRAMES = {
  hello: Hello,
  inventory: Inventory,
  ack: Ack,
  nack: Nack,
  status: Status,
  heartbeat: Heartbeat,
  response: Response,
  stream_data: StreamData,
  stream_end: StreamEnd,
  stream_target: StreamTarget,
  stream_output: StreamOutput,
  stream_credit: StreamCredit,
  build: Build,
  samples: Samples,
  token_stored: TokenStored,
} as const;

/** What an organization has decided for all its clusters; the operator keeps it for when the hub is away. */
export const LinkSettings = Type.Object({ drift_policy: Type.Enum(DRIFT_POLICIES) });
export type LinkSettings = Static<typeof LinkSettings>;

/** Credentials of the organization's private chart repositories. The operator keeps them in its own namespace. */
const ChartRepositories = Type.Array(
  Type.Object({ url: Type.String(), username: Type.String(), password: Type.String() }),
  { maxItems: MAX_CHART_REPOSITORIES },
);

const Welcome = Type.Object({
  type: Type.Literal("welcome"),
  ...ref,
  ...session,
  version: Type.Integer(),
  heartbeat_seconds: Type.Number(),
  /** How long to wait at most before the first try to come back, so that not all come at once. */
  reconnect_spread_seconds: Type.Number(),
  /** `inventory`: the digests differ, send all that there is. `digest`: they are equal. */
  resume: Type.Enum(["digest", "inventory"]),
  settings: LinkSettings,
  /** Left out, what was told last still holds. */
  chart_repositories: Type.Optional(ChartRepositories),
});
/** They have changed since the welcome. */
const Settings = Type.Object({ type: Type.Literal("settings"), ...session, settings: LinkSettings });
/** All of them: what is not among them is not to be used any more. */
const Repositories = Type.Object({
  type: Type.Literal("chart_repositories"),
  ...session,
  chart_repositories: ChartRepositories,
});

const Applied = Type.Object({ type: Type.Literal("apply"), ...id, ...session, ...named, ...trace });
type Apply = {
  [K in DesiredKind]: Static<typeof Applied> & { readonly kind: K; readonly body: DesiredBodies[K] };
}[DesiredKind];
/** One schema a kind, so that a reader can say where a frame of a known kind is wrong. */
export const APPLY_FRAMES = Object.fromEntries(
  DESIRED_KINDS.map((kind) => {
    const fields = { ...Applied.properties, kind: Type.Literal(kind), body: DESIRED_BODIES[kind] };
    return [kind, Type.Object(fields)];
  }),
) as unknown as Readonly<Record<string, TSchema>>;
const Apply = Type.Unsafe<Apply>(Type.Union(Object.values(APPLY_FRAMES)));
const Remove = Type.Object({
  type: Type.Literal("remove"),
  ...id,
  ...session,
  kind: Type.Enum(DESIRED_KINDS),
  key: Key,
  resource_id: Uuid(),
  generation: Count,
  ...trace,
});
/** Everything up to this revision was told. */
const SyncEnd = Type.Object({ type: Type.Literal("sync_end"), ...session, revision: Count });
/** Status frames that are on record now and need not be sent again. */
const Noted = Type.Object({ type: Type.Literal("noted"), ...session, refs: Type.Array(Uuid(), { maxItems: 1_000 }) });
/** `resync`: reconcile every resource again and report it. */
const Command = Type.Object({
  type: Type.Literal("command"),
  ...id,
  ...session,
  command: Type.Object({ name: Type.Literal("resync") }),
});
const Request = Type.Object({
  type: Type.Literal("request"),
  ...id,
  ...session,
  request: Type.Union([
    Type.Object({
      name: Type.Literal("metrics"),
      /** Null asks for the cluster alone. */
      app: Nullable(Type.Object({ namespace: Type.String(), name: Type.String() })),
      range_seconds: Type.Integer({ minimum: 1 }),
    }),
    ObservationRequests.resources,
    ObservationRequests.events,
    ObservationRequests.deletion,
    RunRequests.run,
    RunRequests.run_status,
    InfrastructureRequests.drain_nodes,
    InfrastructureRequests.remove_cloud_objects,
    InfrastructureRequests.describe_disks,
    InfrastructureRequests.local_volumes,
    OperatorUpgradeRequest,
    DetachRequest,
  ]),
});
const StreamOpen = Type.Object({
  type: Type.Literal("stream_open"),
  ...id,
  ...session,
  stream: Type.Union([LogStream, ExecStream]),
  credit_bytes: Count,
});
/** For an exec: bytes of input, another size of the terminal, or the end of the input. */
const StreamInput = Type.Object({
  type: Type.Literal("stream_input"),
  ...ref,
  ...session,
  data: Type.Optional(Chunk),
  size: Type.Optional(TerminalSize),
  end: Type.Optional(Type.Literal(true)),
});
const StreamCancel = Type.Object({ type: Type.Literal("stream_cancel"), ...ref, ...session });
const RenewToken = Type.Object({
  type: Type.Literal("renew_token"),
  ...id,
  ...session,
  token: Type.String(),
  expires_at: Timestamp(),
});
/** Reconnect elsewhere, at a moment of your own choice within the spread. */
const Drain = Type.Object({ type: Type.Literal("drain"), ...session, within_seconds: Type.Number() });

export const HUB_FRAMES = {
  welcome: Welcome,
  settings: Settings,
  chart_repositories: Repositories,
  apply: Apply,
  remove: Remove,
  sync_end: SyncEnd,
  noted: Noted,
  command: Command,
  request: Request,
  stream_open: StreamOpen,
  stream_input: StreamInput,
  stream_credit: StreamCredit,
  stream_cancel: StreamCancel,
  renew_token: RenewToken,
  drain: Drain,
} as const;

type FramesOf<F extends Record<string, TSchema>> = { readonly [T in keyof F]: Static<F[T]> };
export type OperatorFrames = FramesOf<typeof OPERATOR_FRAMES>;
export type HubFrames = FramesOf<typeof HUB_FRAMES>;
export type OperatorFrame = OperatorFrames[keyof OperatorFrames];
export type HubFrame = HubFrames[keyof HubFrames];
