import Type, { type Static } from "typebox";

export const DEFAULT_RANGE = "1h";

/** A range is between one minute and 30 days, in each of the units. */
const WITHIN_BOUNDS = [
  "([6-9][0-9]|[1-9][0-9]{2,5}|1[0-9]{6}|2[0-4][0-9]{5}|25[0-8][0-9]{4}|259[01][0-9]{3}|2592000)s",
  "([1-9][0-9]{0,3}|[1-3][0-9]{4}|4[0-2][0-9]{3}|43[01][0-9]{2}|43200)m",
  "([1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)h",
  "([1-9]|[12][0-9]|30)d",
  "[1-4]w",
].join("|");

export const RangeQuery = Type.Object({
  range: Type.String({
    pattern: "^[0-9]+[smhdw]$",
    maxLength: 12,
    allOf: [{ description: "Range should be from one minute to 30 days", pattern: `^0*(${WITHIN_BOUNDS})$` }],
    default: DEFAULT_RANGE,
    description: "How far back, as `90s`, `15m`, `1h`, `7d` or `2w`: from one minute to 30 days.",
  }),
});

/** Time series of a cluster or of an app. */
export const Metrics = Type.Object(
  {
    range: Type.String({ examples: [DEFAULT_RANGE] }),
    step: Type.String({ description: "Between two points.", examples: ["15s"] }),
    series: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["cpu_used"] }),
        unit: Type.String({ examples: ["cores"] }),
        labels: Type.Unsafe<Record<string, string>>(
          Type.Object({}, { additionalProperties: Type.String(), examples: [{ node: "agent-1" }] }),
        ),
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
