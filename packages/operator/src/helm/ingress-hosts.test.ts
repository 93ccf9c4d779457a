import { describe, expect, test } from "vitest";
import { ingressHostsOf, overlaps, takenHosts } from "./ingress-hosts.ts";

const spec = { rules: [{ host: "Shop.example.com" }, { http: {} }, { host: "a.example.com" }] };

describe("the hosts of a chart's Ingresses", () => {
  test.each([
    [
      "of an Ingress",
      { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec },
      ["shop.example.com", "a.example.com"],
    ],
    ["of another kind", { apiVersion: "v1", kind: "ConfigMap", spec }, []],
    ["of another group's Ingress", { apiVersion: "example.com/v1", kind: "Ingress", spec }, []],
    ["of an Ingress without rules", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: { rules: 1 } }, []],
  ])("[HE29] %s are found", (_, object, hosts) => {
    expect(ingressHostsOf(object)).toEqual(hosts);
  });

  test.each([
    ["shop.example.com", "shop.example.com", true],
    ["*.example.com", "shop.example.com", true],
    ["a.b.example.com", "*.example.com", true],
    ["*.example.com", "example.com", false],
    ["shop.example.com", "myshop.example.com", false],
  ])("[HE29] %s and %s overlap: %s", (one, other, expected) => {
    expect([overlaps(one, other), overlaps(other, one)]).toEqual([expected, expected]);
  });

  test("[HE29] are taken where another namespace uses them, each named once", () => {
    expect(takenHosts(["a.example.com", "a.example.com", "b.example.com"], ["*.example.com"])).toEqual([
      "a.example.com",
      "b.example.com",
    ]);
    expect(takenHosts(["a.example.com"], ["b.example.com"])).toEqual([]);
  });
});
