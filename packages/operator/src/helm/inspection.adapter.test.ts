import { describe, expect, test } from "vitest";
import { createInspection } from "./inspection.adapter.ts";

const RIGHTS = { user: "charts", namespace: "shop", isClusterWide: false, remedy: "Ask." };
const SNIPPET = "nginx.ingress.kubernetes.io/server-snippet";

function inspect(manifest: string, ingressAnnotations: readonly string[] = []): Promise<void> {
  const taken = (namespace: string, hosts: readonly string[]) =>
    hosts.filter((host) => namespace === "shop" && host === "victim.example");
  return createInspection({ isNamespaced: async () => true, hosts: { taken }, ingressAnnotations })(manifest, RIGHTS);
}
const ingress = (host: string, annotations = "{}") =>
  `apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, annotations: ${annotations}}\nspec: {rules: [{host: ${host}}]}\n`;

describe("a rendered chart", () => {
  test("[HE29] that asks for a free host is taken", async () => {
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
  ])("[HE29] that asks for the host of another namespace %s is refused", async (_, manifest) => {
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
    ["a host that is no text", ingress("1e3"), "a host is not a text"],
    ["a document among others that is broken", `${ingress("mine.example")}---\n]broken[`, "cannot be read"],
  ])("[HE42] with %s is refused", async (_, manifest, words) => {
    const message = expect.stringContaining(words);
    await expect(inspect(manifest)).rejects.toMatchObject({ reason: "UnreadableManifest", message });
  });

  test("[HE43] with an alias or a snippet is refused, unless the cluster's administrator allows it", async () => {
    const manifest = ingress("mine.example", `{${SNIPPET}: "server_name victim.example;"}`);
    const message = expect.stringContaining(
      `the annotation ${SNIPPET}, with which it could answer for hosts of others`,
    );
    await expect(inspect(manifest)).rejects.toMatchObject({ reason: "ForbiddenAnnotation", message });
    await inspect(manifest, [SNIPPET]);
  });

  test("[HE43] with an alias that is allowed is refused where the alias is a host of another namespace", async () => {
    const name = "nginx.ingress.kubernetes.io/server-alias";
    const manifest = ingress("mine.example", `{${name}: "other.example,victim.example"}`);
    await expect(inspect(manifest, [name])).rejects.toMatchObject({ reason: "HostTaken" });
  });
});
