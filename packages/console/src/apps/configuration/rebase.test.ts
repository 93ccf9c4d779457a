import { expect, test } from "vitest";
import type { AppForm, ComponentForm } from "./app-form.ts";
import { rebased } from "./rebase.ts";

const component = (name: string, workload_spec: object = {}): ComponentForm => ({ name, workload_spec });
const app = (components: readonly ComponentForm[], description: string | null = null): AppForm => ({
  name: "shop",
  description,
  components,
});
const [web, db, api] = [component("web", { image: "nginx:1", replicas: 2 }), component("db"), component("api")];
const base = app([web, db]);

test.each<[string, AppForm, AppForm, AppForm, readonly string[]]>([
  ["nothing of either", base, base, base, []],
  [
    "different fields of one component",
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    app([component("web", { image: "nginx:1", replicas: 5 }), db]),
    app([component("web", { image: "nginx:2", replicas: 5 }), db]),
    [],
  ],
  [
    "the same field, differently",
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    app([component("web", { image: "nginx:3", replicas: 2 }), db]),
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    ["web.workload_spec.image"],
  ],
  [
    "the same field in the same way",
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    app([component("web", { image: "nginx:2", replicas: 2 }), db]),
    [],
  ],
  [
    "a field that I remove",
    app([component("web", { image: "nginx:1" }), db]),
    base,
    app([component("web", { image: "nginx:1" }), db]),
    [],
  ],
  [
    "a component that each adds",
    app([web, db, api]),
    app([web, db, component("cache")]),
    app([web, db, component("cache"), api]),
    [],
  ],
  ["a component that they removed", base, app([web]), app([web]), []],
  ["a component that I removed", app([web]), base, app([web]), []],
  [
    "one that they removed and I changed",
    app([web, component("db", { image: "x" })]),
    app([web]),
    app([web, component("db", { image: "x" })]),
    ["db"],
  ],
  ["one that I removed and they changed", app([web]), app([web, component("db", { image: "x" })]), app([web]), ["db"]],
  ["both descriptions", app([web, db], "mine"), app([web, db], "theirs"), app([web, db], "mine"), ["description"]],
  ["their description only", base, app([web, db], "theirs"), app([web, db], "theirs"), []],
])("[WC49] my changes are put on top of theirs, and overlaps are named: %s", (_, mine, theirs, form, overlaps) => {
  expect(rebased(base, mine, theirs)).toEqual({ form, overlaps });
});
