import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT_ANSWER, ANSWER, Machine, OPERATOR } from "./machine.ts";

let machine: Machine;
beforeEach(async () => {
  machine = new Machine();
  await machine.start();
});
afterEach(() => machine.stop());

const EXCEPTIONS = "10.64.0.0/16,.svc";
const SERVER = "https://10.64.0.10:6443";
const AUTHORITIES = "-----BEGIN CERTIFICATE-----\nMIIBIjANBg==\n-----END CERTIFICATE-----\n";
const REGISTRIES = { mirrors: { "docker.io": { endpoint: ["https://mirror.example/v2/docker.io"] } } };

test("[PN177] a machine reaches Binnacle through the proxy, and the metadata service without it", async () => {
  machine.answers = [[200, ANSWER]];
  const given = { public_url: "http://binnacle.example", proxy: { url: machine.address, exceptions: EXCEPTIONS } };
  expect(await machine.boot("control-plane", "", given)).toMatchObject({ status: 0 });
  expect(new Set(machine.proxied)).toEqual(new Set(["binnacle.example"]));
  expect(machine.proxied).toHaveLength(machine.reports.length + 1);
  expect(machine.requests.filter((request) => request.includes(" /latest/"))).toHaveLength(4);
});

test.each([
  ["control-plane", "", "k3s"],
  ["agent-1", SERVER, "k3s-agent"],
])("[PN177] k3s on %s has the proxy in the environment of its service", async (node, server, service) => {
  machine.answers = [[200, server ? AGENT_ANSWER : ANSWER]];
  const url = machine.address;
  const proxy = { url, exceptions: `127.0.0.0/8,${EXCEPTIONS}` };
  expect(await machine.boot(node, server, { proxy })).toMatchObject({ status: 0 });
  expect(machine.proxied).toEqual([]);
  expect(machine.read(`etc/systemd/system/${service}.service.env`)).toBe(
    `HTTP_PROXY=${url}\nHTTPS_PROXY=${url}\nNO_PROXY=127.0.0.0/8,10.64.0.0/16,.svc\n`,
  );
  expect(machine.read(`etc/systemd/system/${service}.service`)).toContain(
    `EnvironmentFile=-/etc/systemd/system/${service}.service.env\n`,
  );
});

test("[PN177] a machine without a proxy has no environment of one", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  expect(await machine.boot("agent-1", SERVER, { proxy: null })).toMatchObject({ status: 0 });
  expect(machine.has("etc/systemd/system/k3s-agent.service.env")).toBe(false);
});

test.each([
  ["http://proxy.example/$(touch PWNED)", EXCEPTIONS],
  ["http://proxy.example:3128\nLD_PRELOAD=/tmp/x.so", EXCEPTIONS],
  ['http://proxy.example:3128" "A=b', EXCEPTIONS],
  ["http://user:password@proxy.example:3128", EXCEPTIONS],
  ["http://proxy.example:3128", ".svc`touch PWNED`"],
  ["http://proxy.example:3128", ".svc\nLD_PRELOAD=/tmp/x.so"],
])(
  "[PN180] a proxy that is not an address fails the machine, and nothing is run or written: %j %j",
  async (url, exceptions) => {
    machine.answers = [[200, ANSWER]];
    const harmful = { url: url.replace("PWNED", `${machine.root}/pwned`), exceptions };
    harmful.exceptions = exceptions.replace("PWNED", `${machine.root}/pwned`);
    expect(await machine.boot("control-plane", "", { proxy: harmful })).toMatchObject({ status: 1 });
    expect(machine.log).toContain("the proxy of the machine is not an address");
    expect(machine.has("pwned")).toBe(false);
    expect(machine.has("etc/systemd/system")).toBe(false);
    expect(machine.log).not.toContain("password");
  },
);

test("[PN178] the mirrors of registries are the configuration of containerd on every machine", async () => {
  machine.answers = [[200, { ...AGENT_ANSWER, registries: REGISTRIES }]];
  expect(await machine.boot("agent-1", SERVER)).toMatchObject({ status: 0 });
  expect(machine.json("etc/rancher/k3s/registries.yaml")).toEqual(REGISTRIES);
});

test("[PN180] a name or an address of a registry stays a text in registries.yaml", async () => {
  const endpoint = ['https://x"}}\nconfigs: &a {}', "$(touch x)", "`x`", "'\"\\"];
  const registries = { mirrors: { "*a\n---\nb: *c": { endpoint } } };
  machine.answers = [[200, { ...AGENT_ANSWER, registries }]];
  expect(await machine.boot("agent-1", SERVER)).toMatchObject({ status: 0 });
  expect(machine.json("etc/rancher/k3s/registries.yaml")).toEqual(registries);
});

test("[PN178] authorities are among those of the system before k3s is downloaded, and are there for the jobs of charts", async () => {
  machine.answers = [[200, { ...ANSWER, ca_certificates: AUTHORITIES }]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  expect(machine.read("usr/local/share/ca-certificates/binnacle.crt").trim()).toBe(AUTHORITIES.trim());
  expect(machine.mode("usr/local/share/ca-certificates/binnacle.crt")).toBe("644");
  const calls = machine.read("calls");
  expect(calls.indexOf("update-ca-certificates")).toBeGreaterThan(-1);
  expect(calls.indexOf("update-ca-certificates")).toBeLessThan(calls.indexOf("github.com"));
  expect(machine.json("var/lib/rancher/k3s/server/manifests/binnacle-ca-certificates.yaml")).toMatchObject({
    kind: "ConfigMap",
    metadata: { name: "binnacle-ca-certificates", namespace: "kube-system" },
    data: { "ca.crt": AUTHORITIES },
  });
});

test("[PN178] authorities that the system refuses fail the machine with words", async () => {
  machine.answers = [[200, { ...AGENT_ANSWER, ca_certificates: AUTHORITIES }]];
  machine.write("refuses-authorities", "");
  expect(await machine.boot("agent-1", SERVER)).toMatchObject({ status: 1 });
  expect(machine.reports.at(-1)).toMatchObject({
    stage: "install",
    status: "failed",
    message: "the authorities could not be added to those of the system",
  });
});

const IMAGES = "the images of k3s";
const IMAGES_FILE = "var/lib/rancher/k3s/agent/images/k3s-airgap-images-amd64.tar.zst";
const checksumOf = (text: string) => createHash("sha256").update(text).digest("hex");

test("[PN179] k3s and its images are downloaded from the address that the cluster has", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  machine.write("images-download", IMAGES);
  const given = { k3s_url: "http://mirror.example/k3s", k3s_images: { x86_64: checksumOf(IMAGES) } };
  expect(await machine.boot("agent-1", SERVER, given)).toMatchObject({ status: 0 });
  const calls = machine.read("calls");
  expect(calls).toMatch(/--proto =http,https --url http:\/\/mirror\.example\/k3s\/v1\.37\.1%2Bk3s1\/k3s /);
  expect(calls).toContain("http://mirror.example/k3s/v1.37.1%2Bk3s1/k3s-airgap-images-amd64.tar.zst ");
  expect(calls).not.toContain("github.com");
  expect(machine.read(IMAGES_FILE)).toBe(IMAGES);
});

test("[PN179] without an address of the cluster a download is by HTTPS alone", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  expect(await machine.boot("agent-1", SERVER, { k3s_url: "" })).toMatchObject({ status: 0 });
  expect(machine.read("calls")).toMatch(/--proto =https --url https:\/\/github\.com\//);
});

test("[PN179] images whose checksum differs are not used, and those without one for the machine are not downloaded", async () => {
  machine.answers = [[200, AGENT_ANSWER]];
  machine.write("images-download", "others");
  const differing = { k3s_images: { x86_64: checksumOf(IMAGES) } };
  expect(await machine.boot("agent-1", SERVER, differing)).toMatchObject({ status: 1 });
  expect(machine.log).toMatch(/k3s-airgap-images-amd64\.tar\.zst has the checksum \w+ instead of \w+; it is not used/);
  expect(machine.has(IMAGES_FILE)).toBe(false);
  expect(await machine.boot("agent-1", SERVER, { k3s_images: { aarch64: "0" } })).toMatchObject({ status: 1 });
  expect(machine.log).toContain("the cluster has no checksum of the images for machines of type x86_64");
});

test("[PN177] the operator goes through the proxy that Binnacle names", async () => {
  const hub_proxy = "http://proxy.example.com:3128";
  machine.answers = [[200, { ...ANSWER, operator: { ...OPERATOR, hub_proxy } }]];
  expect(await machine.boot("control-plane")).toMatchObject({ status: 0 });
  const chart = machine.json("var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml");
  expect(JSON.parse(chart.spec.valuesContent).hub).toEqual({ url: OPERATOR.hub_url, proxy: hub_proxy });
});
