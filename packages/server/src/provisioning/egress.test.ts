import { readFileSync } from "node:fs";
import { createCluster, type Egress } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { variables } from "../cloud/aws/aws.ts";
import { KUBERNETES } from "../cloud/kubernetes-release.ts";
import { bodyProblems } from "../http/checked.fixture.ts";
import { AUTHORITY } from "./egress.fixture.ts";
import { egressProblem, firstRelease, hubProxyOf, registriesOf } from "./egress.ts";

test("[PN178] mirrors become the configuration of containerd, and a registry that is named twice has the endpoints of both", () => {
  const registry_mirrors = [
    { registry: "docker.io", endpoints: ["https://one.example.com/v2/docker.io"] },
    { registry: "*", endpoints: ["https://all.example.com"] },
    { registry: "docker.io", endpoints: ["https://two.example.com:5000"] },
  ];
  expect(registriesOf({ registry_mirrors })).toEqual({
    mirrors: {
      "docker.io": { endpoint: ["https://one.example.com/v2/docker.io", "https://two.example.com:5000"] },
      "*": { endpoint: ["https://all.example.com"] },
    },
  });
  expect(registriesOf({ proxy: "http://proxy.example.com" })).toBeNull();
});

const PROXY = "http://proxy.example.com:3128";
test.each<[string, string[], string | null]>([
  ["wss://hub.example.com/hub/v1", [], PROXY],
  ["wss://hub.example.com/hub/v1", ["hub.example.com"], null],
  ["wss://HUB.example.com/hub/v1", [".Example.com"], null],
  ["wss://hub.example.com/hub/v1", ["example.com"], null],
  ["wss://hub.myexample.com/hub/v1", ["example.com"], PROXY],
  ["wss://hub.example.com/hub/v1", ["hub.example.com:443"], null],
  ["wss://hub.example.com:8443/hub/v1", ["hub.example.com:443"], PROXY],
  ["ws://10.1.2.3/hub/v1", ["10.0.0.0/8"], null],
  ["ws://11.1.2.3/hub/v1", ["10.0.0.0/8"], PROXY],
  ["ws://11.1.2.3/hub/v1", ["10.0.0.0/99", "example/8"], PROXY],
  ["ws://11.1.2.3/hub/v1", ["2.3"], PROXY],
])("[PN177] on the way to %s with the exceptions %j the proxy of the operator is %s", (hub, no_proxy, expected) => {
  expect(hubProxyOf({ proxy: PROXY, no_proxy }, hub)).toBe(expected);
});

test("[PN177] the operator has no proxy where the machines have none", () => {
  expect(hubProxyOf({ k3s_url: "https://mirror.example.com" }, "wss://hub.example.com/hub/v1")).toBeNull();
});

test("[CL440] certificates that can be read are accepted, and the first that cannot is named", () => {
  expect(egressProblem(undefined)).toBeNull();
  expect(egressProblem({ ca_certificates: AUTHORITY + AUTHORITY })).toBeNull();
  const broken = AUTHORITY.replace("MII", "AAA");
  expect(JSON.stringify(egressProblem({ ca_certificates: AUTHORITY + broken }))).toContain(
    "Certificate 2 of 2 cannot be read",
  );
});

const problemsOf = (egress: unknown) =>
  bodyProblems(createCluster, {
    name: "prod",
    provider: "aws",
    credential_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    egress,
  });

test.each<[string, Egress]>([
  ["a proxy", { proxy: PROXY, no_proxy: [".example.com", "10.0.0.0/8", "host.example.com:8080", "10.1.2.3"] }],
  ["mirrors", { registry_mirrors: [{ registry: "ghcr.io:443", endpoints: ["http://10.0.0.9:5000/v2/ghcr.io"] }] }],
  ["an authority", { ca_certificates: AUTHORITY }],
  ["downloads", { k3s_url: "http://10.0.0.9/k3s", k3s_images_sha256: { x86_64: "0".repeat(64) } }],
  ["charts", { chart_repository: "https://charts.example.com/a/b" }],
])("[CL439] %s is accepted", (_, egress) => {
  expect(problemsOf(egress)).toEqual([]);
});

/** What ends a quotation in a shell, YAML, JSON, HCL or a file of systemd, or begins a command or a reference in one. */
const HOSTILE = [
  ...[
    "'",
    '"',
    "\\",
    "\n",
    "\r",
    "\t",
    " ",
    "\0",
    "`",
    "$(id)",
    "$" + "{HOME}",
    "%{ if true }",
    ";id",
    "|id",
    "&a",
    "*a",
  ],
  ...["{}", "[]", "<", ">", "#", "!", "\u2028", "é", "%n\n"],
];
const spoilt = (text: string, hostile: string) => [
  hostile + text,
  text + hostile,
  text.slice(0, 9) + hostile + text.slice(9),
];
const FIELDS: readonly [string, string, (text: string) => unknown][] = [
  ["proxy", PROXY, (proxy) => ({ proxy })],
  ["no_proxy", "host.example.com", (text) => ({ proxy: PROXY, no_proxy: [text] })],
  ["k3s_url", "https://mirror.example.com/k3s", (k3s_url) => ({ k3s_url })],
  ["chart_repository", "https://charts.example.com", (chart_repository) => ({ chart_repository })],
  ["registry", "registry.example.com", (registry) => ({ registry_mirrors: [{ registry, endpoints: ["https://a"] }] })],
  ["endpoints", "https://mirror.example.com", (text) => ({ registry_mirrors: [{ registry: "*", endpoints: [text] }] })],
  ["ca_certificates", AUTHORITY, (ca_certificates) => ({ ca_certificates })],
  ["k3s_images_sha256", "0".repeat(64), (x86_64) => ({ k3s_images_sha256: { x86_64 } })],
];

test.each(FIELDS)("[CL440] %s takes no character that ends a text or begins a command", (_, text, egressOf) => {
  expect(problemsOf(egressOf(text))).toEqual([]);
  const accepted = HOSTILE.flatMap((hostile) => spoilt(text, hostile)).filter(
    (hostile) => problemsOf(egressOf(hostile)).length === 0,
  );
  expect(accepted).toEqual([]);
});

test("[CL440] whatever is accepted has no character that means something to a shell, systemd or YAML", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...FIELDS.slice(0, 6)), (text, [, begin, egressOf]) => {
      if (problemsOf(egressOf(begin + text)).length > 0) return;
      expect(begin + text).toMatch(/^[A-Za-z0-9.:/_~%+*-]+$/);
    }),
  );
});

test.each([
  "http://user:password@proxy.example.com:3128",
  "http://user@proxy.example.com",
  "https://u:p@mirror.example.com",
])("[CL441] an address with a user name or password is refused by words that do not repeat it: %s", (address) => {
  for (const egress of [{ proxy: address }, { k3s_url: address }, { chart_repository: address }]) {
    const problems = problemsOf(egress);
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).toMatch(
      /without a user name or password, which everything on a machine could read/,
    );
    expect(JSON.stringify(problems)).not.toContain("u:p@");
    expect(JSON.stringify(problems)).not.toContain("user:password");
  }
});

test.each<[string, unknown]>([
  ["nothing", {}],
  ["an unknown field", { socks: "x" }],
  ["exceptions without a proxy", { no_proxy: ["example.com"] }],
  ["too many exceptions", { proxy: PROXY, no_proxy: Array.from({ length: 17 }, (_, at) => `h${at}`) }],
  ["every host as an exception", { proxy: PROXY, no_proxy: ["*"] }],
  ["a long exception", { proxy: PROXY, no_proxy: ["h".repeat(61)] }],
  ["a long proxy", { proxy: `http://${"h".repeat(200)}` }],
  ["too many mirrors", { registry_mirrors: Array(21).fill({ registry: "*", endpoints: ["https://a"] }) }],
  ["a mirror without an endpoint", { registry_mirrors: [{ registry: "*", endpoints: [] }] }],
  ["a private key as an authority", { ca_certificates: AUTHORITY.replaceAll("CERTIFICATE", "PRIVATE KEY") }],
  ["charts without TLS", { chart_repository: "http://charts.example.com" }],
  ["no checksum", { k3s_images_sha256: {} }],
])("[CL440] %s is refused", (_, egress) => {
  expect(problemsOf(egress).length).toBeGreaterThan(0);
});

test("[PN179] the checksums of images are kept with the release that the cluster is made with", () => {
  const images = { aarch64: "1".repeat(64) };
  expect(firstRelease({ k3s_images_sha256: images })).toEqual({ ...KUBERNETES, images });
  expect(firstRelease({ proxy: PROXY })).toEqual(KUBERNETES);
  expect(firstRelease(null)).toEqual(KUBERNETES);
});

test("[PN179] the guide names the release whose images new clusters load", () => {
  const guide = readFileSync(new URL("../../../../docs/operations/provisioning.md", import.meta.url), "utf8");
  expect(guide).toContain(`the release that new clusters get, ${KUBERNETES.version}.`);
});

test("[PN177] [PN179] the module gets the proxy and the addresses for downloads, and whether there are authorities", () => {
  const wanted = {
    ...{ id: "id", jobId: "job", name: "prod", region: "eu-west-1", instanceType: "t3.large", diskSizeGb: 50 },
    ...{
      agentCount: 1,
      sshPublicKey: "ssh",
      nodeTokens: {},
      reportTokens: {},
      publicUrl: "https://a",
      adminRanges: [],
    },
    ...{ snapshotBucket: null, restoredSnapshot: null, permissionsBoundary: null },
  };
  expect(variables({ ...wanted, kubernetes: KUBERNETES, egress: null })).toMatchObject({
    ...{
      proxy: "",
      no_proxy: [],
      k3s_url: "",
      k3s_images_sha256: {},
      chart_repository: "",
      has_ca_certificates: false,
    },
  });
  const images = { x86_64: "0".repeat(64) };
  const egress = { proxy: PROXY, no_proxy: ["a"], k3s_url: "https://m", chart_repository: "https://c" };
  const given = { ...wanted, kubernetes: { ...KUBERNETES, images }, egress: { ...egress, ca_certificates: AUTHORITY } };
  expect(variables(given)).toMatchObject({ ...egress, k3s_images_sha256: images, has_ca_certificates: true });
});
