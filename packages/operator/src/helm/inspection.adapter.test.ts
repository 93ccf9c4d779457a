import { describe, expect, test } from "vitest";
import { createInspection } from "./inspection.adapter.ts";

const RIGHTS = { user: "charts", namespace: "shop", isClusterWide: false, remedy: "Ask." };
const SNIPPET = "nginx.ingress.kubernetes.io/server-snippet";

function inspect(
  manifest: string,
  ingressAnnotations: readonly string[] = [],
  rights: typeof RIGHTS = RIGHTS,
  areBroadIngressesAllowed = false,
): Promise<void> {
  const taken = (namespace: string, hosts: readonly string[]) =>
    hosts.filter((host) => namespace === "shop" && host === "victim.example");
  const isNamespaced = async (_: string, kind: string) => kind !== "ClusterRole";
  return createInspection({
    isNamespaced,
    hosts: { takenByOthers: taken },
    ingressAnnotations,
    areBroadIngressesAllowed,
  })(manifest, rights);
}
const ingress = (host: string, annotations = "{}") =>
  `apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, annotations: ${annotations}}\nspec: {rules: [{host: ${host}}]}\n`;

describe("a rendered chart", () => {
  test("[HE29] a rendered chart that asks for a free host is accepted", async () => {
    await inspect(`# Source: a\n---\n${ingress("mine.example")}`);
  });

  test.each([
    ["plainly", ingress("victim.example")],
    ["in capitals", ingress("VICTIM.example")],
    [
      "in a list",
      `kind: List\nitems: [{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {rules: [{host: victim.example}]}}]`,
    ],
    [
      "in a list of Ingresses",
      `apiVersion: networking.k8s.io/v1\nkind: IngressList\nitems: [{spec: {rules: [{host: victim.example}]}}]`,
    ],
    ["in a document after another", `${ingress("mine.example")}---\n${ingress("victim.example")}`],
    ["by an alias of YAML", `x: &a victim.example\n${ingress("*a")}`],
    [
      "in an HTTPRoute",
      `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {hostnames: [victim.example]}`,
    ],
    ["for a certificate", `apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {tls: [{hosts: [victim.example]}]}`],
  ])("[HE29] a rendered chart that asks for the host of another namespace %s is refused", async (_, manifest) => {
    const message = expect.stringContaining("the host victim.example, which another namespace");
    await expect(inspect(manifest)).rejects.toMatchObject({ reason: "HostTaken", message });
  });

  test.each([
    ["a kind twice", `kind: ConfigMap\n${ingress("victim.example")}`, "duplicated mapping key"],
    ["an unknown tag", ingress("!x victim.example"), "unknown scalar tag"],
    [
      "a merge key",
      `x: &x {host: victim.example}\napiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {rules: [{<<: *x}]}`,
      "merge key",
    ],
    ["a host that is not text", ingress("1e3"), "a host is not a text"],
    ["a document among others that is broken", `${ingress("mine.example")}---\n]broken[`, "cannot be read"],
  ])("[HE42] a rendered chart with %s is refused", async (_, manifest, words) => {
    const message = expect.stringContaining(words);
    await expect(inspect(manifest)).rejects.toMatchObject({ reason: "UnreadableManifest", message });
  });

  test("[HE43] a rendered chart with a snippet annotation is refused, unless the cluster's administrator allows it", async () => {
    const manifest = ingress("mine.example", `{${SNIPPET}: "server_name victim.example;"}`);
    const message = expect.stringContaining(
      `the annotation ${SNIPPET}, with which it could answer for hosts of others`,
    );
    await expect(inspect(manifest)).rejects.toMatchObject({ reason: "ForbiddenAnnotation", message });
    await inspect(manifest, [SNIPPET]);
  });

  test("[HE43] a rendered chart with an allowed alias is refused where the alias is a host of another namespace", async () => {
    const name = "nginx.ingress.kubernetes.io/server-alias";
    const manifest = ingress("mine.example", `{${name}: "other.example,victim.example"}`);
    await expect(inspect(manifest, [name])).rejects.toMatchObject({ reason: "HostTaken" });
  });

  test.each([
    ["for all hosts", "spec: {rules: [{http: {paths: [{path: /a}]}}]}"],
    ["for all hosts by an empty name", 'spec: {rules: [{host: ""}]}'],
    ["for a wildcard", 'spec: {rules: [{host: "*.mine.example"}]}'],
  ])(
    "[HE53] a rendered chart with an Ingress %s is refused, unless the cluster's administrator allows it",
    async (_, spec) => {
      const manifest = `apiVersion: networking.k8s.io/v1\nkind: Ingress\n${spec}`;
      const message = expect.stringContaining("broadIngresses");
      await expect(inspect(manifest)).rejects.toMatchObject({ reason: "ForbiddenObject", message });
      await inspect(manifest, [], RIGHTS, true);
    },
  );

  test.each(["/x`) || Host(`victim.example`) || PathPrefix(`/y", '/x"', "/x'", "/a b", "/a\tb"])(
    "[HE53] a rendered chart with the path %j of an Ingress is refused, whatever is allowed",
    async (path) => {
      const spec = JSON.stringify({ rules: [{ host: "mine.example", http: { paths: [{ path }] } }] });
      const manifest = `apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: ${spec}`;
      const message = expect.stringContaining("a quote or a space");
      await expect(inspect(manifest, [], RIGHTS, true)).rejects.toMatchObject({ reason: "ForbiddenObject", message });
    },
  );

  test("[HE53] a rendered chart with the path of a regular expression is accepted", async () => {
    const paths = [{ path: "/api(/|$)(.*)" }, { path: "/" }, {}];
    const spec = JSON.stringify({ rules: [{ host: "mine.example", http: { paths } }] });
    await inspect(`apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: ${spec}`);
  });

  describe("with cluster-wide rights", () => {
    const ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n";
    const inspectWide = (manifest: string) => inspect(manifest, [], { ...RIGHTS, isClusterWide: true });

    test("[HE24] a rendered chart may bring objects of the whole cluster, which one without these rights may not", async () => {
      await inspectWide(`${ROLE}---\n${ingress("mine.example")}`);
      await expect(inspect(ROLE)).rejects.toMatchObject({ reason: "ForbiddenObject" });
    });

    test.each([
      ["UnreadableManifest", "kind: ConfigMap\nkind: Ingress\n"],
      ["ForbiddenAnnotation", ingress("mine.example", `{${SNIPPET}: "server_name victim.example;"}`)],
      ["HostTaken", ingress("victim.example")],
    ])("[HE24] a rendered chart is refused as any other is, with the reason %s", async (reason, manifest) => {
      await expect(inspectWide(`${ROLE}---\n${manifest}`)).rejects.toMatchObject({ reason });
    });
  });
});
