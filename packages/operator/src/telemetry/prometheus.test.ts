import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { podPattern } from "./pod-selection.ts";
import {
  addedUp,
  appSeries,
  clusterSeries,
  componentsQuery,
  rangeUpTo,
  seriesIn,
  stepSecondsFor,
} from "./prometheus.ts";
import { prometheusPaths } from "./prometheus-service.ts";

describe("a range", () => {
  test.each([
    [60, 15],
    [3_600, 15],
    [6 * 3_600, 120],
    [86_400, 300],
    [7 * 86_400, 3_600],
    [30 * 86_400, 10_800],
    [365 * 86_400, 105_472],
  ])("[TE21] a range of %d seconds has a step of %d", (range, step) => expect(stepSecondsFor(range)).toBe(step));

  test("[TE21] a range has at most 300 points, at whole steps, and ends no later than now", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40_000_000 }), fc.integer({ min: 0, max: 4e12 }), (range, now) => {
        const { start, end, stepSeconds } = rangeUpTo(now, range);
        expect((end - start) / stepSeconds + 1).toBeLessThanOrEqual(300);
        expect([start % stepSeconds, end % stepSeconds].map(Math.abs)).toEqual([0, 0]);
        expect(end * 1_000).toBeLessThanOrEqual(now);
        expect(end - start).toBeLessThanOrEqual(range);
      }),
    );
  });
});

test("[TE22] names are escaped, so that no name changes the query", () => {
  const components = [{ name: 'w"', podPattern: podPattern("s.", "w") }];
  const query = componentsQuery("memory_used", { namespace: 'n"} or up{a="', components }, 15);
  expect(query).toContain('{namespace="n\\"} or up{a=\\"",pod=~"(s\\\\.-w)-(');
  expect(query).toContain('"component", "w\\""');
});

describe("an answer of Prometheus", () => {
  const matrix = (...result: object[]) => ({ status: "success", data: { resultType: "matrix", result } });

  test("[TE22] values that are not numbers are left out of an answer of Prometheus", () => {
    const values = [
      [10, "1.5"],
      [25, "NaN"],
      [40, "+Inf"],
      [55, "2"],
      ["x", "3"],
    ];
    expect(seriesIn(matrix({ metric: { component: "web" }, values }))).toEqual([
      {
        labels: { component: "web" },
        points: [
          [10, 1.5],
          [55, 2],
        ],
      },
    ]);
    const vector = { resultType: "vector", result: [{ metric: {}, value: [10, "1"] }] };
    expect(seriesIn({ status: "success", data: vector })).toEqual([{ labels: {}, points: [[10, 1]] }]);
  });

  test.each([
    [{ status: "error", errorType: "bad_data", error: "parse error" }, "parse error"],
    [{ status: "error" }, "it does not say why"],
    [{ hello: "world" }, "the answer is not that of a Prometheus"],
    ["<html>", "the answer is not that of a Prometheus"],
  ])("[TE24] a failed answer says why: %j", (answer, problem) => expect(seriesIn(answer)).toEqual({ problem }));

  test("[TE20] an answer of Prometheus becomes series of the cluster or of an app and its components", () => {
    expect(clusterSeries("cpu_used", [{ labels: {}, points: [[1, 2]] }])).toEqual([
      { name: "cpu_used", unit: "cores", labels: {}, points: [[1, 2]] },
    ]);
    expect(clusterSeries("cpu_used", [])).toEqual([]);
    const found = [
      { labels: { component: "web" }, points: [[15, 1]] },
      { labels: { component: "db" }, points: [[15, 2]] },
      { labels: { component: "idle" }, points: [] },
    ];
    const shape = { name: "memory_used", unit: "bytes" };
    expect(appSeries("memory_used", "shop", found)).toEqual([
      { ...shape, labels: { app: "shop" }, points: [[15, 3]] },
      { ...shape, labels: { app: "shop", component: "db" }, points: [[15, 2]] },
      { ...shape, labels: { app: "shop", component: "web" }, points: [[15, 1]] },
    ]);
  });

  test("[TE20] components are added up at every moment at which one was measured", () => {
    const series = [
      [
        [30, 1],
        [15, 1],
      ],
      [
        [30, 2],
        [45, 4],
      ],
    ];
    expect(addedUp(series)).toEqual([
      [15, 1],
      [30, 3],
      [45, 4],
    ]);
  });
});

test("[TE23] Services that may be a Prometheus are tried by likelihood, and none of a project is tried", () => {
  const service = (namespace: string, name: string, ports: object[], type = "ClusterIP"): KubeObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports, type },
  });
  const services = [
    service("zoo", "my-prometheus", [{ name: "http", port: 80 }]),
    service("monitoring", "prometheus-operated", [{ name: "web", port: 9090 }]),
    service("monitoring", "prometheus-operated", [{ name: "web", port: 9090 }]),
    service("monitoring", "prometheus-k8s", [
      { name: "reloader-web", port: 8080 },
      { name: "web", port: 9090 },
    ]),
    service("shop", "prometheus-server", [{ name: "http", port: 80 }]),
    service("monitoring", "prometheus", [{ name: "grpc", port: 10901 }]),
    service("monitoring", "prometheus-server", [{ port: 9090 }], "ExternalName"),
  ];
  expect(prometheusPaths(services, (namespace) => namespace === "shop")).toEqual([
    "/api/v1/namespaces/monitoring/services/prometheus-k8s:9090/proxy",
    "/api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy",
    "/api/v1/namespaces/zoo/services/my-prometheus:80/proxy",
  ]);
});
