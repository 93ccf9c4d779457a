import fc from "fast-check";
import { expect, test } from "vitest";
import { workload } from "./rendered.fixture.ts";
import { someComponents } from "./some-app.fixture.ts";
import { needsOf, startOrder } from "./start-order.ts";

const needing = (name: string, ...depends_on: string[]) => workload(name, {}, { depends_on });

test("[RN24] components start after all that they need, by depends_on, export_refs and variables", () => {
  const web = workload(
    "web",
    { env: [{ name: "API", export_ref: { component: "api", key: "url" } }] },
    { depends_on: ["cache"], export_refs: [{ component: "db" }, { component: "an-instance" }] },
  );
  const components = [web, needing("api", "db"), needing("cache"), needing("db")];
  expect(startOrder(components)).toEqual([["cache", "db"], ["api"], ["web"]]);
  expect(needsOf(components).get("web")).toEqual(["api", "cache", "db"]);
});

test("[RN24] every component has one wave, after those of its needs", () => {
  fc.assert(
    fc.property(someComponents, (components) => {
      const waves = startOrder(components);
      const waveOf = (name: string) => waves.findIndex((wave) => wave.includes(name));
      expect(waves.flat().sort()).toEqual(components.map(({ name }) => name).sort());
      for (const [name, needs] of needsOf(components)) {
        for (const need of needs) expect(waveOf(need)).toBeLessThan(waveOf(name));
      }
    }),
  );
});
