import { describe, expect, test } from "vitest";
import { chartRef, docsUrl, hubUrl, installCommand } from "./connection.ts";

const CHART = { name: "binnacle-operator", version: "1.2.3", fileName: "binnacle-operator-1.2.3.tgz" };
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

describe("the addresses that a cluster is told", () => {
  test.each([
    ["http://127.0.0.1:8080", "ws://127.0.0.1:8080/hub/v1"],
    ["https://binnacle.example.com", "wss://binnacle.example.com/hub/v1"],
    ["https://example.com/binnacle", "wss://example.com/binnacle/hub/v1"],
  ])("[CL33] the hub of %s is %s", (publicUrl, hub) => {
    expect(hubUrl(publicUrl)).toBe(hub);
  });

  test("[CL30] the chart is pinned, and its manual is beside it", () => {
    expect(chartRef("https://example.com", CHART)).toBe("https://example.com/charts/binnacle-operator-1.2.3.tgz");
    expect(docsUrl("https://example.com")).toBe("https://example.com/charts/README.md");
  });
});

describe("the install command", () => {
  test("[CL32] is one line to copy and paste", () => {
    expect(installCommand("https://example.com", CHART, ID, "aaa.bbb-_.ccc")).toBe(
      "helm upgrade --install binnacle-operator binnacle-operator --repo https://example.com/charts --version 1.2.3 " +
        "--namespace binnacle-system --create-namespace --set-string hub.url=wss://example.com/hub/v1 " +
        `--set-string cluster.id=${ID} --set-string cluster.token=aaa.bbb-_.ccc`,
    );
  });

  test("[CL32] is quoted where the address would mean something to the shell or to Helm", () => {
    const command = installCommand("https://example.com/it's,here", CHART, ID, "t");
    expect(command).toContain(`--repo 'https://example.com/it'\\''s,here/charts'`);
    expect(command).toContain(`--set-string 'hub.url=wss://example.com/it'\\''s\\,here/hub/v1'`);
  });
});
