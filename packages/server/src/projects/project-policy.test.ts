import { POD_SECURITY_LEVELS, type PodSecurity } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Standing } from "../access/role.ts";
import { Fault } from "../fault.ts";
import {
  changePolicy,
  effectivePodSecurity,
  FIRST_POLICY,
  type PolicyChange,
  type PolicyColumns,
} from "./project-policy.ts";

const ROLES = {
  superuser: { isSuperuser: true, orgRole: null, bindingRole: null },
  orgAdmin: { isSuperuser: false, orgRole: "admin", bindingRole: null },
  admin: { isSuperuser: false, orgRole: "member", bindingRole: "admin" },
  editor: { isSuperuser: false, orgRole: "member", bindingRole: "editor" },
} as const satisfies Record<string, Standing>;
type Role = keyof typeof ROLES;

function tried(current: PolicyColumns, change: PolicyChange, ofCluster: PodSecurity, role: Role): PolicyColumns | null {
  try {
    return changePolicy(current, change, ofCluster, ROLES[role]);
  } catch (error) {
    if (error instanceof Fault && error.kind === "forbidden") return null;
    throw error;
  }
}

describe("who changes what of a policy", () => {
  test.each<[string, PolicyChange, PodSecurity, readonly Role[]]>([
    ["a level weaker than the cluster's", { pod_security: "privileged" }, "baseline", ["superuser", "orgAdmin"]],
    [
      "a level one step weaker than the cluster's",
      { pod_security: "baseline" },
      "restricted",
      ["superuser", "orgAdmin"],
    ],
    ["the cluster's own level", { pod_security: "baseline" }, "baseline", ["superuser", "orgAdmin", "admin", "editor"]],
    [
      "a level stricter than the cluster's",
      { pod_security: "restricted" },
      "baseline",
      ["superuser", "orgAdmin", "admin", "editor"],
    ],
    ["no isolation", { isolation: "none" }, "baseline", ["superuser", "orgAdmin", "admin"]],
    [
      "what is in force already",
      { pod_security: null, isolation: "namespace" },
      "baseline",
      ["superuser", "orgAdmin", "admin", "editor"],
    ],
  ])("[PR25] only the permitted roles set a policy with %s", (_, change, ofCluster, allowed) => {
    const roles = (Object.keys(ROLES) as Role[]).filter((role) => tried(FIRST_POLICY, change, ofCluster, role));
    expect(roles).toEqual(allowed);
  });

  test("[PR25] the refusal of a weaker pod security says which role it takes", () => {
    const weaken = () => changePolicy(FIRST_POLICY, { pod_security: "privileged" }, "baseline", ROLES.admin);
    expect(weaken).toThrow(
      "Only an administrator of the organization may set a pod_security weaker than the cluster's, which is baseline.",
    );
  });
});

const rank = (level: PodSecurity) => POD_SECURITY_LEVELS.indexOf(level);
const levels = fc.constantFrom(...POD_SECURITY_LEVELS);

describe("the level in force", () => {
  test("[PR26] no changes by an administrator of the project make its pod security weaker than the cluster's", () => {
    const moves = fc.array(
      fc.oneof(
        fc.record({ ofCluster: levels }),
        fc.record({ asked: fc.option(levels), role: fc.constantFrom<Role>("admin", "editor") }),
      ),
    );
    fc.assert(
      fc.property(levels, moves, (first, history) => {
        let [ofCluster, policy] = [first, FIRST_POLICY];
        for (const move of history) {
          if ("ofCluster" in move) ofCluster = move.ofCluster;
          else policy = tried(policy, { pod_security: move.asked }, ofCluster, move.role) ?? policy;
          expect(rank(effectivePodSecurity(policy, ofCluster))).toBeGreaterThanOrEqual(rank(ofCluster));
        }
      }),
    );
  });

  test.each<[string, PodSecurity | null, boolean, PodSecurity, PodSecurity]>([
    ["follows the cluster", null, false, "restricted", "restricted"],
    ["is its own, which is stricter", "restricted", false, "baseline", "restricted"],
    ["is the cluster's, which became stricter", "baseline", false, "restricted", "restricted"],
    ["is its own, which somebody has allowed", "privileged", true, "baseline", "privileged"],
    ["is its own where the cluster's is weaker", "baseline", true, "privileged", "baseline"],
  ])("[PR26] the pod security in force %s", (_, pod_security, weaker_pod_security_allowed, ofCluster, effective) => {
    expect(effectivePodSecurity({ pod_security, weaker_pod_security_allowed }, ofCluster)).toBe(effective);
  });

  test("[PR26] a weaker pod security that was allowed once is not allowed after another level was set", () => {
    const allowed = changePolicy(FIRST_POLICY, { pod_security: "privileged" }, "restricted", ROLES.orgAdmin);
    const following = changePolicy(allowed, { pod_security: null }, "restricted", ROLES.admin);
    expect(following.weaker_pod_security_allowed).toBe(false);
    expect(tried(following, { pod_security: "privileged" }, "restricted", "admin")).toBeNull();
  });
});
