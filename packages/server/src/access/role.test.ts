import { BINDING_ROLES, type OrgRole } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { decide, type PlaceRequirement, type Standing, strongest } from "./role.ts";

const standing = (facts: Partial<Standing>): Standing => ({
  isSuperuser: false,
  orgRole: null,
  bindingRole: null,
  ...facts,
});
const needsRole = (role: OrgRole, hidden = false): PlaceRequirement => ({ needs: "org_role", role, hidden });

const STRANGER = standing({});
const MEMBER = standing({ orgRole: "member" });
const ADMIN = standing({ orgRole: "admin" });
const SUPERUSER = standing({ isSuperuser: true });

describe("the verdict on a caller", () => {
  test.each([
    [needsRole("member"), STRANGER, "forbidden"],
    [needsRole("admin"), STRANGER, "forbidden"],
  ])("[AC4] the requirement %j refuses a stranger openly", (requirement, caller, verdict) => {
    expect(decide(requirement, caller)).toBe(verdict);
  });

  test.each([needsRole("member", true), needsRole("admin", true)])(
    "[AC5] the requirement %j hides the place from a stranger",
    (it) => {
      expect(decide(it, STRANGER)).toBe("hidden");
    },
  );

  test("[AC6] an administrator may do what a member may, and not the other way round", () => {
    expect(decide(needsRole("member"), MEMBER)).toBe("allowed");
    expect(decide(needsRole("member"), ADMIN)).toBe("allowed");
    expect(decide(needsRole("admin"), ADMIN)).toBe("allowed");
    expect(decide(needsRole("admin"), MEMBER)).toBe("forbidden");
    expect(decide(needsRole("admin", true), MEMBER)).toBe("forbidden");
  });

  test.each<PlaceRequirement>([{ needs: "superuser" }, needsRole("member"), needsRole("admin", true)])(
    "[AC7] the requirement %j is met by a superuser who belongs to no organization",
    (requirement) => {
      expect(decide(requirement, SUPERUSER)).toBe("allowed");
    },
  );

  test.each([STRANGER, MEMBER, ADMIN])("[AC7] the caller %j may not do what only superusers may", (caller) => {
    expect(decide({ needs: "superuser" }, caller)).toBe("forbidden");
  });

  test.each(BINDING_ROLES)("[AC9] a binding as %s gives no role in the organization", (bindingRole) => {
    expect(decide(needsRole("admin"), { ...MEMBER, bindingRole })).toBe("forbidden");
    expect(decide(needsRole("member", true), { ...STRANGER, bindingRole })).toBe("hidden");
  });
});

describe("the strongest of several roles", () => {
  test.each([
    [[], null],
    [[null], null],
    [["viewer", null], "viewer"],
    [["editor", "viewer"], "editor"],
    [["viewer", "admin", "editor"], "admin"],
  ] as const)("[AC8] the strongest of the roles %j is %j", (roles, role) => {
    expect(strongest(roles)).toBe(role);
  });
});
