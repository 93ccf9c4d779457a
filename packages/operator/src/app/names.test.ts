import { LONGEST_NAMES_TOGETHER } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { componentNames, shortHash } from "./names.ts";
import { dnsLabel } from "./render/some-app.fixture.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

test("[RN1] the names of objects are made of the app's name, the component's name and what the object is for", () => {
  const { claim, job, ...names } = componentNames("shop", "web");
  expect(names).toEqual({
    base: "shop-web",
    suffixable: "shop-web",
    headless: "shop-web-headless",
    env: "shop-web-env",
    files: "shop-web-files",
    secrets: "shop-web-secrets",
    composed: "shop-web-composed",
    tls: "shop-web-tls",
  });
  expect(claim("data")).toBe("shop-web-data");
  expect(job("0123abcd")).toBe("shop-web-0123abcd");
});

test("[RN1] every name is a DNS label of at most 63 characters, and a name that gets a suffix has at most 52", () => {
  const pairs = fc.tuple(dnsLabel(51), dnsLabel(51)).filter(([a, b]) => a.length + b.length <= LONGEST_NAMES_TOGETHER);
  fc.assert(
    fc.property(pairs, dnsLabel(63), fc.string(), ([app, component], volume, template) => {
      const { claim, job, ...names } = componentNames(app, component);
      const all = [...Object.values(names), claim(volume), job(shortHash(template))];
      for (const name of all) expect(name).toMatch(LABEL);
      expect(Math.max(...all.map((name) => name.length))).toBeLessThanOrEqual(63);
      expect(names.suffixable.length).toBeLessThanOrEqual(52);
    }),
  );
});

test("[RN1] names that are cut to length stay distinct", () => {
  const [app, component] = ["a".repeat(32), "b".repeat(20)];
  expect(componentNames(app, component).suffixable).toMatch(/^a{32}-b{10}-[0-9a-f]{8}$/);
  expect(componentNames(app, component).suffixable).not.toBe(componentNames(app, `${component.slice(1)}c`).suffixable);
  const claims = ["one", "two"].map((end) => componentNames(app, component).claim(`${"v".repeat(20)}-${end}`));
  expect(new Set(claims).size).toBe(2);
});
