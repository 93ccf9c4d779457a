import Type, { type Static } from "typebox";
import { Nullable, Uuid } from "../fields.ts";
import type { LogLine } from "../rest/app-operations.ts";

export const LogStream = Type.Object({
  name: Type.Literal("logs"),
  namespace: Type.String(),
  app: Type.String(),
  component: Type.String(),
  tail_lines: Type.Integer({ minimum: 0 }),
  since_seconds: Nullable(Type.Integer({ minimum: 1 })),
  follow: Type.Boolean(),
  previous: Type.Optional(Type.Boolean()),
  /** Of this run alone. Only sent to an operator that knows runs. */
  run: Type.Optional(Uuid()),
});
export type LogStream = Static<typeof LogStream>;

/** The credit that lines use: the length of their JSON. Both sides must count alike, or a stream would stop. */
export const creditOf = (lines: readonly LogLine[]): number => JSON.stringify(lines).length;
