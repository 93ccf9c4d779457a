import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { audienceOf, type Filter, matches, maySee } from "./audience.ts";
import { accessOf, anyAccess, anyEvent, anyFilter, eventOf } from "./events.fixture.ts";

const inOrg = (role: "member" | "admin") => accessOf({ orgRoles: new Map([["org-1", role]]) });
const ofProject = eventOf({ cluster_id: "cluster-1", project_id: "project-1" });
const ofCluster = eventOf({ type: "cluster-status", cluster_id: "cluster-1" });

describe("who hears an event", () => {
  test("[EV11] a superuser gets every event", () => {
    fc.assert(
      fc.property(anyEvent, anyAccess, (event, access) =>
        maySee(event, { ...access, boundary: null, isSuperuser: true }),
      ),
    );
  });

  test("[EV11] an administrator gets every event of the organization and none of another", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(maySee(event, inOrg("admin"))).toBe(event.org_id === "org-1");
      }),
    );
  });

  test.each([
    ["a stranger", accessOf(), false, false],
    ["a member", inOrg("member"), true, false],
    [
      "a member with a role on the project",
      { ...inOrg("member"), projectRoles: new Map([["project-1", "viewer"] as const]) },
      true,
      true,
    ],
    [
      "a member with a role on the cluster",
      { ...inOrg("member"), clusterRoles: new Map([["cluster-1", "viewer"] as const]) },
      true,
      true,
    ],
    [
      "a member with a role on another project",
      { ...inOrg("member"), projectRoles: new Map([["project-2", "admin"] as const]) },
      true,
      false,
    ],
  ])(
    "[EV12] %s gets the events of clusters and projects that the roles permit",
    (_, access, hearsOfCluster, hearsOfProject) => {
      expect(maySee(ofCluster, access)).toBe(hearsOfCluster);
      expect(maySee(ofProject, access)).toBe(hearsOfProject);
    },
  );

  test("[EV12] a member without a role on a project or its cluster gets no event of the project", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        fc.pre(event.project_id !== undefined);
        expect(maySee(event, inOrg("member"))).toBe(false);
      }),
    );
  });

  test("[EV12] a further role never takes an event away", () => {
    fc.assert(
      fc.property(anyEvent, anyAccess, anyAccess, (event, held, added) => {
        const both = accessOf({
          isSuperuser: held.isSuperuser,
          orgRoles: new Map([...added.orgRoles, ...held.orgRoles]),
          clusterRoles: new Map([...added.clusterRoles, ...held.clusterRoles]),
          projectRoles: new Map([...added.projectRoles, ...held.projectRoles]),
        });
        if (maySee(event, held)) expect(maySee(event, both)).toBe(true);
      }),
    );
  });

  test("[EV13] a build outside of projects is sent to those with a role on its cluster", () => {
    const build = eventOf({ type: "build", cluster_id: "cluster-1" });
    expect(maySee(build, inOrg("member"))).toBe(false);
    const viewer = { ...inOrg("member"), clusterRoles: new Map([["cluster-1", "viewer"] as const]) };
    expect(maySee(build, viewer)).toBe(true);
  });

  test("[EV14] an activity is sent to those who see its place, else to administrators, else to superusers", () => {
    const activity = (facts: object) => eventOf({ type: "activity", ...facts });
    expect(maySee(activity({ cluster_id: "cluster-1" }), inOrg("member"))).toBe(true);
    expect(maySee(activity({ cluster_id: "cluster-1", project_id: "project-1" }), inOrg("member"))).toBe(false);
    expect(maySee(activity({}), inOrg("member"))).toBe(false);
    expect(maySee(activity({}), inOrg("admin"))).toBe(true);
    expect(maySee(activity({ org_id: null }), inOrg("admin"))).toBe(false);
    expect(maySee(activity({ org_id: null }), accessOf({ isSuperuser: true }))).toBe(true);
  });
});

describe("a filter", () => {
  const all: Filter = { resource_type: "all" };

  test("[EV15] a filter passes events that have every id that it names, in any case", () => {
    const event = eventOf({ cluster_id: "ab", project_id: "cd", workload_id: "ef" });
    expect(matches(event, { ...all, cluster_id: "AB", project_id: "cd", workload_id: "EF" })).toBe(true);
    expect(matches(event, { ...all, cluster_id: "ab", project_id: "xx" })).toBe(false);
    expect(matches(eventOf(), { ...all, cluster_id: "ab" })).toBe(false);
    expect(matches(eventOf(), all)).toBe(true);
  });

  test("[EV15] a filter that names more ids passes no more events", () => {
    fc.assert(
      fc.property(anyEvent, anyFilter, (event, filter) => {
        const { cluster_id: _, ...wider } = filter;
        if (matches(event, filter)) {
          expect(matches(event, wider)).toBe(true);
          expect(matches(event, { ...filter, resource_type: "all" })).toBe(true);
        }
      }),
    );
  });

  test.each([
    ["cluster", { type: "cluster-status" }, true],
    ["cluster", { type: "install_stage_update" }, true],
    ["cluster", { type: "app" }, false],
    ["project", { type: "project" }, true],
    ["app", { type: "app" }, true],
    ["app", { type: "drift", resource: { type: "app", id: null, name: null } }, true],
    ["addon", { type: "drift", resource: { type: "app", id: null, name: null } }, false],
    ["addon", { type: "drift", resource: { type: "addon_instance", id: null, name: null } }, true],
    ["addon", { type: "addon" }, true],
    ["build", { type: "build" }, true],
    ["workload", { type: "app", workload_id: "app-1" }, true],
    ["workload", { type: "app" }, false],
    ["workload", { type: "activity", workload_id: "app-1" }, false],
    ["cluster", { type: "activity", resource: { type: "cluster", id: null, name: null } }, false],
    ["activity", { type: "activity" }, true],
    ["activity", { type: "app" }, false],
    ["all", { type: "activity" }, true],
  ] as const)("[EV16] the filter for %s and the event %j give %j", (resource_type, facts, passes) => {
    expect(matches(eventOf(facts), { resource_type })).toBe(passes);
  });
});

describe("an audience", () => {
  test("[EV8] users with the same access and filter have the same audience, however their roles are listed", () => {
    fc.assert(
      fc.property(anyAccess, anyFilter, (access, filter) => {
        const backwards = <R>(of: ReadonlyMap<string, R>) => new Map([...of].reverse());
        const other = {
          userId: "another user",
          boundary: access.boundary && { ...access.boundary },
          isSuperuser: access.isSuperuser,
          orgRoles: backwards(access.orgRoles),
          clusterRoles: backwards(access.clusterRoles),
          projectRoles: backwards(access.projectRoles),
        };
        expect(audienceOf(other, { ...filter })).toBe(audienceOf(access, filter));
      }),
    );
  });

  test("[EV8] users who get different events never have the same audience", () => {
    fc.assert(
      fc.property(anyEvent, fc.tuple(anyAccess, anyFilter), fc.tuple(anyAccess, anyFilter), (event, one, other) => {
        const hears = ([access, filter]: typeof one) => matches(event, filter) && maySee(event, access);
        if (hears(one) !== hears(other)) expect(audienceOf(...one)).not.toBe(audienceOf(...other));
      }),
    );
  });
});
