import Type from "typebox";
import { exampleOf } from "../example.ts";
import { Nullable, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { EVENT_TYPES, RESOURCE_FILTERS } from "../states.ts";

const StreamEvent = Type.Object(
  {
    id: Uuid(),
    type: Type.Enum(EVENT_TYPES, { description: "The same as the frame's name.", examples: ["app"] }),
    time: Timestamp(),
    org_id: Nullable(Uuid()),
    cluster_id: Type.Optional(Uuid()),
    project_id: Type.Optional(Uuid()),
    workload_id: Type.Optional(Uuid()),
    user_id: Type.Optional(Uuid("The user whose account it is about; that user receives it too.")),
    resource: Type.Object({
      type: Type.String({ examples: ["app"] }),
      id: Nullable(Type.String({ examples: ["01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"] })),
      name: Nullable(Type.String({ examples: ["shop"] })),
      namespace: Type.Optional(Type.String({ examples: ["web"] })),
    }),
  },
  {
    title: "Event",
    additionalProperties: true,
    description: [
      "What else an event says stands beside these fields, by its type: `install_stage_update` has those of the journal",
      "entry, `activity` those of the audit entry, `app` the phase, and `operation` and `summary` where an operation was made. `access` says that your own roles have changed: read again what you show.",
      "`reset` is the first event of a resumed stream that cannot be given what it has missed: read again what you show.",
    ].join(" "),
  },
);

/** The handler writes the stream itself, so it returns nothing. */
const EventFrames = Type.Unsafe<null>(
  Type.String({
    description: "Server-sent events: the name of a frame is the event's type, its `data` the event as JSON.",
    contentMediaType: "application/json",
    contentSchema: StreamEvent,
    examples: [`event: app\ndata: ${JSON.stringify(exampleOf(StreamEvent))}\n\n`],
  }),
);

const EventQuery = Type.Object({
  cluster_id: Type.Optional(Uuid("Only events of this cluster.")),
  project_id: Type.Optional(Uuid("Only events of this project.")),
  workload_id: Type.Optional(Uuid("Only events of this workload.")),
  resource_type: Type.Enum(RESOURCE_FILTERS, {
    default: "all",
    description: "Only events about resources of this kind.",
  }),
  resumable: Type.Boolean({
    default: false,
    description:
      "Gives the frames an `id`. Connect again with `resumable=true` and the last of them as `Last-Event-ID`, to any server: you get what you have missed.",
  }),
});

export const streamEvents = operation({
  id: "streamEvents",
  method: "GET",
  path: "/events/stream",
  tag: "Events",
  summary: "Follow what happens, as server-sent events",
  description: [
    "A long-lived `text/event-stream` of what you may see, from now on. A filter for what you cannot see is met by silence.",
    "A comment every 15 seconds keeps the line open. The stream ends when its access token expires, when its session, its CLI token or its",
    "user is gone, when the server stops, and for a client that does not read. Reconnect with backoff.",
    "Nothing is replayed unless `resumable=true` is asked for: read again what you show. With it, a stream that is opened with `Last-Event-ID`",
    "first gets what it has missed in the last 15 minutes, in order and once, as far as you may see it now; 10,000 events or 8 MiB of an organization at most.",
    "Beyond that its first event is a `reset`. A user may have 100 such streams open on a server, unless it is set up otherwise; one more is a 429.",
  ].join(" "),
  credentials: "user",
  query: EventQuery,
  success: [200, EventFrames],
  failures: [429],
  successType: "text/event-stream",
});
