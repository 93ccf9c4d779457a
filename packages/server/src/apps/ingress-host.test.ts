import { ComponentInput } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileCheck } from "../http/validation.ts";
import { WEB, workload } from "./app.fixture.ts";
import { addedHosts, hostsOf, isWildcard, matchingNames, refuseWildcards } from "./ingress-host.ts";

const at = (name: string, host: string) => workload(name, { workload_spec: { ingress: { host } } });

describe("the hosts of an app", () => {
  test("[AP64] the hosts of an app are those of its workloads, each once", () => {
    const chart = {
      name: "chart",
      type: "chart",
      chart_spec: { repo: "https://charts.example.com", name: "x" },
    } as const;
    const components = [WEB, at("a", "a.example.com"), at("b", "b.example.com"), at("c", "a.example.com"), chart];
    expect(hostsOf(components)).toEqual(["a.example.com", "b.example.com"]);
  });

  test("[AP64] the hosts that an operation adds are those that the app did not have", () => {
    const before = [at("a", "a.example.com"), at("b", "b.example.com")];
    expect(addedHosts(before, [at("c", "b.example.com"), at("d", "d.example.com")])).toEqual(["d.example.com"]);
    expect(addedHosts(before, before)).toEqual([]);
  });
});

describe("the names that answer for a host", () => {
  test.each([
    ["shop", ["shop"]],
    ["shop.example.com", ["shop.example.com", "*.example.com", "*.com"]],
    ["a.b.c", ["a.b.c", "*.b.c", "*.c"]],
    ["*.example.com", ["*.example.com", "*.com"]],
    ["*.com", ["*.com"]],
  ])("[AP66] the names that match the host %s are %j", (host, names) => {
    expect(matchingNames(host)).toEqual(names);
  });

  test("[AP66] the names that match a host are its own and every wildcard above it", () => {
    const name = fc
      .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 })
      .map((labels) => labels.join("."));
    const host = fc.tuple(fc.boolean(), name).map(([wild, rest]) => (wild ? `*.${rest}` : rest));
    fc.assert(
      fc.property(host, host, (one, other) => {
        const isBelow = isWildcard(other) && one.endsWith(other.slice(1));
        expect(matchingNames(one).includes(other)).toBe(one === other || isBelow);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("[AP67] a wildcard is refused to a user who does not administer the organization, and the refusal names it", () => {
  expect(() => refuseWildcards(["a.example.com", "*.example.com"], false)).toThrow(
    "The host *.example.com is a wildcard, which only an administrator of the organization may add.",
  );
  expect(() => refuseWildcards(["*.example.com"], true)).not.toThrow();
  expect(() => refuseWildcards(["a.example.com"], false)).not.toThrow();
});

describe("the form of an ingress", () => {
  const check = compileCheck({ body: ComponentInput });
  const problemsOf = (ingress: object) =>
    check({ path: {}, query: {}, cookie: {}, body: { name: "web", workload_spec: { ingress } } }).map(
      ({ loc, type }) => `${loc.at(-1)} ${type}`,
    );

  test.each([
    "Shop.example.com",
    "shop.example.com.",
    "shop..example.com",
    "münchen.example.com",
    "*",
    "*.",
    "a.*.example.com",
    "-a.example.com",
    "a-.example.com",
    "a_b.example.com",
    `${"a".repeat(64)}.example.com`,
    "a.example.com\n",
  ])("[AP69] %j is refused as a host", (host) => {
    expect(problemsOf({ host })).toEqual(["host string_pattern_mismatch"]);
  });

  test.each(["shop", "xn--mnchen-3ya.example.com", "0.a-b.example.com", "*.example.com"])(
    "[AP69] %s is accepted as a host",
    (host) => {
      expect(problemsOf({ host })).toEqual([]);
    },
  );

  test.each(["", "a", "/a b", "/a;b", "/a\n", "/{a}", '/"', "/a?b=c", "/a#b", "/$a", "/(a)", "/ä"])(
    "[AP69] %j is refused as a path of an ingress",
    (path) => {
      expect(problemsOf({ host: "shop", path })).toEqual(["path string_pattern_mismatch"]);
    },
  );

  test.each(["/", "/v1/a-b_c.d~e/%7E"])("[AP69] %s is accepted as a path of an ingress", (path) => {
    expect(problemsOf({ host: "shop", path })).toEqual([]);
  });
});
