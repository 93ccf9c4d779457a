import { expect, test } from "vitest";
import { alignSeries, chartSummary, quantityText, spanOf } from "./chart-data.ts";

test("[WC60] series of a chart that were measured at different times share one time axis", () => {
  const table = alignSeries([
    {
      label: "used",
      points: [
        [60, 1],
        [120, 2],
        [180, null],
      ],
    },
    {
      label: "capacity",
      points: [
        [60, 4],
        [150, 4],
      ],
    },
  ]);
  expect(table.times).toEqual([60, 120, 150, 180]);
  expect(table.values).toEqual([
    [1, 2, undefined, null],
    [4, undefined, 4, undefined],
  ]);
});

test("[WC60] the line of a chart is broken where nothing was measured", () => {
  const { times, values } = alignSeries([
    {
      label: "used",
      points: [
        [60, 1],
        [120, 2],
        [600, 3],
        [660, 3],
      ],
    },
  ]);
  expect(times).toEqual([60, 120, 180, 600, 660]);
  expect(values[0]).toEqual([1, 2, null, 3, 3]);
});

test.each([
  [
    [1_000, 8_200],
    [1_000, 8_200],
  ],
  [
    [7_000, 7_060],
    [6_460, 7_060],
  ],
  [[7_000], [6_400, 7_000]],
])("[WC60] points at %j have an axis over %j: some minutes at least, and no more than they need", (times, span) => {
  expect(spanOf(times)).toEqual(span);
});

test("[WC60] a chart of which nothing was measured is empty", () => {
  expect(alignSeries([])).toEqual({ times: [], values: [] });
  expect(alignSeries([{ label: "used", points: [] }])).toEqual({ times: [], values: [[]] });
});

test.each([
  [0, "bytes", "0 B"],
  [1536, "bytes", "1.5 KiB"],
  [8_000_000_000, "bytes", "7.45 GiB"],
  [2 ** 62, "bytes", "4,096 PiB"],
  [0.025, "cores", "25 m cores"],
  [0, "cores", "0 cores"],
  [1.25, "cores", "1.25 cores"],
  [42.123, "percent", "42.1 %"],
  [7, "pods", "7 pods"],
  [null, "bytes", "—"],
  [Number.NaN, "cores", "—"],
])("[WC60] the quantity %s %s reads as %s", (value, unit, words) => {
  expect(quantityText(value, unit)).toBe(words);
});

test.each([
  [[], "CPU: nothing was measured."],
  [[{ label: "used", points: [] }], "CPU. used: nothing was measured."],
  [
    [
      {
        label: "used",
        points: [
          [60, 1],
          [120, 3],
          [180, 2],
        ],
      },
    ],
    "CPU. used: now 2 cores, between 1 cores and 3 cores.",
  ],
  [
    [
      {
        label: "used",
        points: [
          [60, 1],
          [120, null],
        ],
      },
    ],
    "CPU. used: not measured lately, constant.",
  ],
  [
    [
      {
        label: "used",
        points: [
          [60, 1],
          [120, 2],
        ],
      },
      {
        label: "capacity",
        points: [
          [60, 4],
          [120, 4],
        ],
      },
    ],
    "CPU. used: now 2 cores, between 1 cores and 2 cores; capacity: now 4 cores, constant.",
  ],
] as const)("[WC60] a chart says in words what it shows: %#", (series, words) => {
  expect(chartSummary("CPU", "cores", series)).toBe(words);
});
