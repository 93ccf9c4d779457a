import { expect, test } from "vitest";
import { chartLines, chartsOf, dangerousActions } from "./policy-labels.ts";

test("[WC68] allowed charts are written one per line, and empty lines are ignored", () => {
  const charts = [{ repo: "https://charts.example.com", name: "cert-manager" }];
  expect(chartsOf(`\n${chartLines(charts).join("\n")}\n  \n`)).toEqual(charts);
  expect(chartsOf("https://charts.example.com")).toEqual([{ repo: "https://charts.example.com", name: "" }]);
});

test.each([
  [null, "connected", false, false],
  [null, "disconnected", false, true],
  ["aws", "connected", true, false],
  ["aws", "provisioning", false, true],
  ["aws", "destroying", false, true],
  ["aws", "abandoned", false, true],
  ["aws", "error", false, true],
] as const)(
  "[WC68] a cluster of provider %s that is %s can be scaled: %s, abandoned: %s",
  (provider, status, scale, abandon) => {
    const actions = dangerousActions({ provider, status });
    expect(actions.canScale).toBe(scale);
    expect(actions.abandonRefusal === null).toBe(abandon);
  },
);

test("[WC68] the deletion of a cluster says what goes: a registered cluster's record, a provisioned one's machines", () => {
  expect(dangerousActions({ provider: null, status: "connected" }).deleteConsequences.join(" ")).toContain(
    "not uninstalled",
  );
  expect(dangerousActions({ provider: "aws", status: "connected" }).deleteConsequences[0]).toContain("destroyed");
  expect(dangerousActions({ provider: null, status: "abandoned" }).deleteConsequences[0]).toContain("end with it");
});
