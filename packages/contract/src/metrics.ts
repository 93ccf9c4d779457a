import Type, { type Static } from "typebox";

export const DEFAULT_RANGE = "1h";

export const RangeQuery = Type.Object({
  range: Type.String({
    pattern: "^\\d+[smhdw]$",
    maxLength: 12,
    default: DEFAULT_RANGE,
    description: "How far back, as `90s`, `15m`, `1h`, `7d` or `2w`: from one minute to 30 days.",
  }),
});

/** Series of numbers over time, of a cluster or of an app. */
export const Metrics = Type.Object(
  {
    range: Type.String({ examples: [DEFAULT_RANGE] }),
    step: Type.String({ description: "Between two points.", examples: ["15s"] }),
    series: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["cpu_used"] }),
        unit: Type.String({ examples: ["cores"] }),
        labels: Type.Record(Type.String(), Type.String(), { examples: [{ node: "agent-1" }] }),
        points: Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), {
          description: "Each a Unix time in seconds and a value, oldest first.",
          examples: [[[1769851800, 1.25]]],
        }),
      }),
    ),
  },
  { title: "Metrics" },
);
export type Metrics = Static<typeof Metrics>;
