import Type from "typebox";
import { Nullable, Timestamp } from "../fields.ts";
import { operation } from "../operation.ts";

const Count = Type.Integer({ minimum: 0, examples: [3] });

export const getSystemStatus = operation({
  id: "getSystemStatus",
  method: "GET",
  path: "/system/status",
  tag: "Control plane",
  summary: "Read how the installation is",
  description: "The database, the job queue and the operators' sessions of all processes, and how much there is.",
  credentials: "user",
  success: [
    200,
    Type.Object(
      {
        build: Nullable(Type.String({ description: "Git revision; null when unstamped.", examples: ["4f2a1c9"] })),
        environment: Type.String({ examples: ["production"] }),
        started_at: Timestamp("When the process that answers was started."),
        database: Type.Object({
          version: Type.String({ examples: ["18.4"] }),
          size_bytes: Count,
          connections: Type.Integer({ minimum: 0, description: "Of all clients of the database server." }),
          max_connections: Count,
          migration: Nullable(Type.String({ description: "The last one.", examples: ["0018_console_reads"] })),
        }),
        jobs: Type.Object({
          pending: Count,
          running: Count,
          failed: Count,
          oldest_pending_seconds: Nullable(
            Type.Integer({ minimum: 0, description: "How long the oldest one that could run has waited." }),
          ),
        }),
        hub: Type.Object({
          sessions: Type.Integer({ minimum: 0, description: "Operators that are connected to any hub." }),
          pending: Type.Integer({ minimum: 0, description: "Changes that their cluster has not confirmed." }),
        }),
        organizations: Count,
        users: Count,
        clusters: Count,
        apps: Count,
      },
      { title: "SystemStatus" },
    ),
  ],
});
