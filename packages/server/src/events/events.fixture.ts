import { EVENT_TYPES, RESOURCE_FILTERS } from "@binnacle/contract";
import fc from "fast-check";
import type { Access } from "../access/role.ts";
import type { Filter } from "./audience.ts";
import type { Event } from "./event.ts";

const ORGS = ["org-1", "org-2"];
const CLUSTERS = ["cluster-1", "cluster-2"];
const PROJECTS = ["project-1", "project-2"];

/** An event with everything that every event has. */
export const eventOf = (facts: Partial<Event> = {}): Event => ({
  id: "event-1",
  type: "app",
  time: "2030-01-01T00:00:00.000Z",
  org_id: "org-1",
  resource: { type: "app", id: "app-1", name: "shop" },
  ...facts,
});

export const accessOf = (facts: Partial<Access> = {}): Access => ({
  userId: "user-1",
  boundary: null,
  isSuperuser: false,
  orgRoles: new Map(),
  clusterRoles: new Map(),
  projectRoles: new Map(),
  ...facts,
});

const place = (names: readonly string[]) => fc.option(fc.constantFrom(...names), { nil: undefined });
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** Few places, so that events and those who hear them often meet. */
export const anyEvent: fc.Arbitrary<Event> = fc
  .record({
    type: fc.constantFrom(...EVENT_TYPES),
    org_id: fc.constantFrom(...ORGS, null),
    cluster_id: place(CLUSTERS),
    project_id: place(PROJECTS),
    workload_id: place(["app-1", "app-2"]),
  })
  .map((facts) => eventOf(given(facts)));

const roles = <R extends string>(names: readonly string[], held: readonly R[]) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...held)), { selector: ([name]) => name })
    .map((entries) => new Map(entries));

export const anyAccess: fc.Arbitrary<Access> = fc.record({
  userId: fc.constantFrom("user-1", "user-2"),
  boundary: fc.option(
    fc.oneof(
      fc.constantFrom(...ORGS).map((org_id) => ({ org_id })),
      fc.constantFrom(...PROJECTS).map((project_id) => ({ project_id })),
    ),
  ),
  isSuperuser: fc.boolean(),
  orgRoles: roles(ORGS, ["member", "admin"] as const),
  clusterRoles: roles(CLUSTERS, ["viewer", "editor", "admin"] as const),
  projectRoles: roles(PROJECTS, ["viewer", "editor", "admin"] as const),
});

export const anyFilter: fc.Arbitrary<Filter> = fc
  .record({
    cluster_id: place(CLUSTERS),
    project_id: place(PROJECTS),
    workload_id: place(["app-1", "app-2"]),
    resource_type: fc.constantFrom(...RESOURCE_FILTERS),
  })
  .map(given);
