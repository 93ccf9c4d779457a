import Type, { type Static } from "typebox";
import { Timestamp } from "../fields.ts";
import { Metrics, RangeQuery } from "../metrics.ts";
import { operation } from "../operation.ts";
import { appParams, appQuery } from "./apps.ts";

const params = Type.Object(appParams);

const logOptions = {
  tail_lines: Type.Integer({ minimum: 0, maximum: 10_000, default: 200, description: "Of each container, at first." }),
  since_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000, description: "No older lines." })),
  follow: Type.Boolean({ default: true, description: "Stay and send new lines; else end after those there are." }),
};

export const LogLine = Type.Object(
  {
    component: Type.String({ examples: ["web"] }),
    pod: Type.String({ examples: ["storefront-web-7d9c5b6f4-x2x5p"] }),
    container: Type.String({ examples: ["web"] }),
    time: Timestamp(),
    line: Type.String({ examples: ["listening on :8080"] }),
  },
  { title: "LogLine" },
);
export type LogLine = Static<typeof LogLine>;

/** The handler writes it by itself, for as long as it lasts; there is nothing to give back. */
const LogStream = Type.Unsafe<null>(
  Type.String({
    description:
      "Server-sent events: `event: log` with a `LogLine` as its data, `event: dropped` with `{count}` where the reader " +
      "was too slow, and `event: end`. It ends when the access token expires, its session ends or you lose the project. " +
      "A user may have 20 log streams open on a server; one more is a 429.",
    examples: [
      'event: log\ndata: {"component":"web","pod":"storefront-web-0","container":"web","time":"2026-01-31T09:30:00.000Z","line":"ready"}\n\n',
    ],
  }),
);

const streaming = {
  method: "GET",
  tag: "Apps",
  credentials: "user",
  success: [200, LogStream],
  successType: "text/event-stream",
  failures: [404, 429, 502, 504],
} as const;

export const streamAppLogs = operation({
  ...streaming,
  id: "streamAppLogs",
  path: "/apps/{namespace}/{name}/logs",
  summary: "Follow the logs of an app",
  description: "An app of several workloads needs `component`. Without an operator that is connected: 503.",
  params,
  query: Type.Object({
    ...appQuery,
    component: Type.Optional(Type.String({ maxLength: 253, examples: ["web"] })),
    ...logOptions,
  }),
});

export const streamComponentLogs = operation({
  ...streaming,
  id: "streamComponentLogs",
  path: "/apps/{namespace}/{name}/components/{component}/logs/stream",
  summary: "Follow the logs of one component",
  params: Type.Object({ ...appParams, component: Type.String({ maxLength: 253, examples: ["web"] }) }),
  query: Type.Object({ ...appQuery, ...logOptions }),
});

export const getAppMetrics = operation({
  id: "getAppMetrics",
  method: "GET",
  path: "/apps/{namespace}/{name}/metrics",
  tag: "Apps",
  summary: "Read series of the app, its components and the cluster's capacity",
  credentials: "user",
  params,
  query: Type.Object({ ...appQuery, ...RangeQuery.properties }),
  success: [200, Metrics],
  failures: [404, 502, 504],
});
