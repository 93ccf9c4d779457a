import { describe, expect, test } from "vitest";
import { HARMLESS_NAMES, UNLISTED_NAMES } from "./route-hosts.fixture.ts";
import { covers, hostsOf, unlistedHostAnnotations, writtenHosts } from "./route-hosts.ts";

const rules = [{ host: "Shop.example.com" }, { http: {} }, { host: "" }, { host: "a.example.com" }];
const ingress = (spec: object, annotations: object = {}, apiVersion = "networking.k8s.io/v1") => ({
  apiVersion,
  kind: "Ingress",
  metadata: { name: "a", annotations },
  spec,
});
const gateway = (kind: string, spec: object) => ({ apiVersion: "gateway.networking.k8s.io/v1", kind, spec });

describe("the hosts that an object asks for", () => {
  test.each<[string, object, string[]]>([
    ["of an Ingress", ingress({ rules }), ["shop.example.com", "a.example.com"]],
    ["of an Ingress of long ago", ingress({ rules }, {}, "extensions/v1beta1"), ["shop.example.com", "a.example.com"]],
    [
      "of its certificates, without wildcards, which are shared",
      ingress({ rules: [{ host: "a.example.com" }], tls: [{ hosts: ["b.example.com", "*.example.com"] }, {}] }),
      ["a.example.com", "b.example.com"],
    ],
    [
      "of an HTTPRoute",
      gateway("HTTPRoute", { hostnames: ["a.example.com", "*.b.example.com"] }),
      ["a.example.com", "*.b.example.com"],
    ],
    ["of a GRPCRoute", gateway("GRPCRoute", { hostnames: ["a.example.com"] }), ["a.example.com"]],
    ["of a TLSRoute", gateway("TLSRoute", { hostnames: ["a.example.com"] }), ["a.example.com"]],
    ["of a Gateway", gateway("Gateway", { listeners: [{ hostname: "a.example.com" }, {}] }), ["a.example.com"]],
    [
      "of aliases",
      ingress(
        {},
        {
          "nginx.ingress.kubernetes.io/server-alias": "a.example.com, b.example.com",
          "konghq.com/host-aliases": "c.example.com",
        },
      ),
      ["a.example.com", "b.example.com", "c.example.com"],
    ],
    [
      "of DNS records",
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { annotations: { "external-dns.alpha.kubernetes.io/hostname": "a.example.com." } },
      },
      ["a.example.com"],
    ],
    ["of another kind", { apiVersion: "v1", kind: "ConfigMap", spec: { rules } }, []],
    ["of another group's Ingress", { apiVersion: "example.com/v1", kind: "Ingress", spec: { rules } }, []],
    ["of an Ingress without rules", ingress({ rules: 1, tls: 2 }), []],
  ])("[HE29] the hosts %s are found", (_, object, hosts) => {
    expect(hostsOf({ ...object })).toEqual(hosts);
  });

  test("[HE42] a host in an Ingress that is not a text is kept apart", () => {
    expect(writtenHosts(ingress({ rules: [{ host: 1_000 }, { host: null }, {}] }))).toEqual([1_000]);
  });

  test.each([
    ["*.example.com", "shop.example.com", true],
    ["*.example.com", "a.b.example.com", true],
    ["*.example.com", "*.b.example.com", true],
    ["*.example.com", "*.example.com", false],
    ["*.example.com", "example.com", false],
    ["shop.example.com", "myshop.example.com", false],
  ])("[HE29] the host %s covers %s: %s", (wildcard, host, expected) => {
    expect(covers(wildcard, host)).toBe(expected);
  });
});

describe("an annotation that can ask for hosts that nobody sees", () => {
  test.each(UNLISTED_NAMES)("[HE43] an annotation that can ask for unlisted hosts is found: %s", (name) => {
    expect(unlistedHostAnnotations(ingress({}, { [name]: "x" }))).toEqual([name]);
  });

  test("[HE43] the path matcher annotation of Traefik counts only where it can match hosts", () => {
    const matcher = "traefik.ingress.kubernetes.io/router.pathmatcher";
    expect(unlistedHostAnnotations(ingress({}, { [matcher]: "PathPrefix" }))).toEqual([]);
    expect(unlistedHostAnnotations(ingress({}, { [matcher]: "Host(`a`) || Path" }))).toEqual([matcher]);
  });

  test.each(HARMLESS_NAMES)("[HE43] an annotation that cannot ask for hosts is not reported: %s", (name) => {
    expect(unlistedHostAnnotations(ingress({}, { [name]: "x" }))).toEqual([]);
  });
});
