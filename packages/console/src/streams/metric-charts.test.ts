import { expect, test } from "vitest";
import { chartsOf } from "./metric-charts.ts";

test("[WC105] each metric of an app is a chart, and each of its series a line", () => {
  const charts = chartsOf({
    series: [
      {
        name: "cpu_usage",
        unit: "cores",
        labels: { component: "web" },
        points: [
          [1, 0.5],
          [2, 0.7],
        ],
      },
      { name: "cpu_usage", unit: "cores", labels: { app: "shop" }, points: [[1, 0.1]] },
      { name: "network_in", unit: "bytes", labels: {}, points: [] },
    ],
  });
  expect(charts).toEqual([
    {
      title: "CPU",
      unit: "cores",
      series: [
        {
          label: "web",
          points: [
            [1, 0.5],
            [2, 0.7],
          ],
        },
        { label: "Whole app", points: [[1, 0.1]] },
      ],
    },
    { title: "Network in", unit: "bytes", series: [{ label: "Network in", points: [] }] },
  ]);
});

test("[WC105] the capacity of the cluster alone does not make a chart of an app", () => {
  const capacity = { name: "cpu_capacity", unit: "cores", labels: {}, points: [[1, 32]] };
  const usage = { name: "cpu_usage", unit: "cores", labels: { app: "shop" }, points: [[1, 0.1]] };
  expect(chartsOf({ series: [capacity] })).toEqual([]);
  expect(chartsOf({ series: [usage, capacity] }).map(({ title }) => title)).toEqual(["CPU", "CPU of the cluster"]);
});
