import { describe, expect, test } from "vitest";
import {
  chartRef,
  docsUrl,
  hasOperatorImage,
  hubUrl,
  imageReference,
  imageValues,
  installCommand,
} from "./connection.ts";

const CHART = { name: "binnacle-operator", version: "1.2.3", fileName: "binnacle-operator-1.2.3.tgz", image: null };
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

describe("the addresses that a cluster is told", () => {
  test.each([
    ["http://127.0.0.1:8080", "ws://127.0.0.1:8080/hub/v1"],
    ["https://binnacle.example.com", "wss://binnacle.example.com/hub/v1"],
    ["https://example.com/binnacle", "wss://example.com/binnacle/hub/v1"],
  ])("[CL33] the hub of the public address %s is %s", (publicUrl, hub) => {
    expect(hubUrl(publicUrl)).toBe(hub);
  });

  test("[CL30] the chart reference has a fixed version, and the manual is beside the chart", () => {
    expect(chartRef("https://example.com", CHART)).toBe("https://example.com/charts/binnacle-operator-1.2.3.tgz");
    expect(docsUrl("https://example.com")).toBe("https://example.com/charts/README.md");
  });
});

describe("the install command", () => {
  test("[CL32] the install command is one line to copy and paste", () => {
    expect(installCommand("https://example.com", CHART, ID, "aaa.bbb-_.ccc")).toBe(
      "helm upgrade --install binnacle-operator binnacle-operator --repo https://example.com/charts --version 1.2.3 " +
        "--namespace binnacle-system --create-namespace --set-string hub.url=wss://example.com/hub/v1 " +
        `--set-string cluster.id=${ID} --set-string cluster.token=aaa.bbb-_.ccc`,
    );
  });

  test("[CL32] the install command quotes an address with characters that the shell or Helm would interpret", () => {
    const command = installCommand("https://example.com/it's,here", CHART, ID, "t");
    expect(command).toContain(`--repo 'https://example.com/it'\\''s,here/charts'`);
    expect(command).toContain(`--set-string 'hub.url=wss://example.com/it'\\''s\\,here/hub/v1'`);
  });

  const digest = `sha256:${"a".repeat(64)}`;

  test("[CL433] the install command names the control plane's own image by its digest", () => {
    const command = installCommand("https://example.com", { ...CHART, image: { registry: null, digest } }, ID, "t");
    expect(command).toContain(` --set-string image.registry=example.com --set-string image.digest=${digest}`);
  });

  test.each([
    ["https://example.com", { registry: null, digest }, `example.com/binnacle/operator@${digest}`],
    [
      "https://example.com",
      { registry: "r.example.com/mirror", digest: null },
      "r.example.com/mirror/binnacle/operator:1.2.3",
    ],
    ["https://example.com", null, "binnacle/operator:1.2.3"],
  ])("[CL2834] at the address %s with the image %j, nodes pull %s", (url, image, reference) => {
    expect(imageReference(url, { ...CHART, image })).toBe(reference);
  });

  test.each([
    ["https://example.com", null, { registry: "example.com", digest }],
    ["http://10.0.0.7:8080", null, { registry: "10.0.0.7:8080", digest }],
    ["https://binnacle", null, { registry: "binnacle:443", digest }],
    ["http://localhost", null, { registry: "localhost", digest }],
    ["https://example.com/binnacle", null, {}],
    [
      "https://example.com/binnacle",
      "registry.example.com/mirror",
      { registry: "registry.example.com/mirror", digest },
    ],
  ])(
    "[CL433] at the address %s with the registry %s, nodes pull from where a registry can be",
    (url, registry, values) => {
      expect(imageValues(url, { registry, digest })).toEqual(values);
    },
  );

  test.each([
    ["images of its own", "https://example.com", { registry: null, digest }, true],
    ["a registry", "https://example.com/binnacle", { registry: "registry.example.com", digest: null }, true],
    ["neither", "https://example.com", null, false],
    ["images at an address with a path", "https://example.com/binnacle", { registry: null, digest }, false],
  ])("[CL434] a control plane with %s knows the image for new machines or not", (_, url, image, isKnown) => {
    expect(hasOperatorImage(url, image)).toBe(isKnown);
  });
});
