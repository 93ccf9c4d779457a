import { describe, expect, test } from "vitest";
import {
  currentPasswordMissing,
  currentPasswordWrong,
  deletionProblem,
  disablingProblem,
  emailSetBy,
  isEmailTrusted,
  normaliseEmail,
  subjectOf,
  type User,
  wireBinding,
  wireUser,
} from "./user.ts";

const ada: User = {
  id: "0198c0de-0000-7000-8000-00000000000a",
  name: "Ada Lovelace",
  username: "ada",
  email: "ada@example.com",
  email_verified: false,
  email_vouched_by: [],
  profile_image_url: null,
  is_superuser: false,
  disabled: false,
  tier_name: "free",
  created_at: new Date("2030-01-01T00:00:00Z"),
  updated_at: new Date("2030-01-02T00:00:00Z"),
};

describe("a user", () => {
  test("[AU30] a user on the wire has exactly the public fields, whatever the row holds", () => {
    const row = { ...ada, password_hash: "$argon2id$" };
    expect(wireUser(row)).toEqual({
      id: ada.id,
      name: "Ada Lovelace",
      username: "ada",
      email: "ada@example.com",
      profile_image_url: null,
      email_verified: false,
      is_superuser: false,
      disabled: false,
      tier: "free",
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-02T00:00:00.000Z",
    });
  });

  test("[AU36] a role binding on the wire has its id, user, role and place", () => {
    const { created_at, updated_at } = ada;
    const binding = {
      id: "b",
      user_id: ada.id,
      role: "viewer",
      cluster_id: "c",
      project_id: null,
      created_at,
      updated_at,
    } as const;
    expect(wireBinding(binding)).toEqual({
      binding_id: "b",
      user_id: ada.id,
      role: "viewer",
      cluster_id: "c",
      project_id: null,
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-02T00:00:00.000Z",
    });
  });

  test("[AU33] an email address is normalised to lower case", () => {
    expect(normaliseEmail("Ada@Example.COM")).toBe("ada@example.com");
  });

  test.each([
    ["a superuser", emailSetBy({ isSuperuser: true }, []), { docks: true, ships: true }],
    ["a superuser who also runs one", emailSetBy({ isSuperuser: true }, ["docks"]), { docks: true, ships: true }],
    ["an administrator", emailSetBy({ isSuperuser: false }, ["docks"]), { docks: true, ships: false }],
    ["its user", emailSetBy({ isSuperuser: false }, []), { docks: false, ships: false }],
  ])("[AU46] an email address that %s has set is trusted where they may vouch for it", (_, trust, expected) => {
    const trusted = { docks: isEmailTrusted(trust, "docks"), ships: isEmailTrusted(trust, "ships") };
    expect(trusted).toEqual(expected);
  });

  test("[AU49] a caller may name themselves, and only a superuser may name another user", () => {
    const caller = { id: ada.id, isSuperuser: false };
    expect(subjectOf(caller, undefined)).toBe(ada.id);
    expect(subjectOf(caller, ada.id.toUpperCase())).toBe(ada.id);
    expect(() => subjectOf(caller, "another")).toThrow("Only superusers may name another user.");
    expect(subjectOf({ ...caller, isSuperuser: true }, "another")).toBe("another");
  });

  test("[AU48] a user cannot disable themselves", () => {
    expect(disablingProblem(ada, ada.id)).toMatchObject({ kind: "conflict" });
    expect(disablingProblem(ada, "another")).toBeNull();
  });

  test("[AU18] a missing or wrong current password is reported at the field current_password", () => {
    for (const problem of [currentPasswordMissing(), currentPasswordWrong()]) {
      expect(problem).toMatchObject({ kind: "invalid", detail: [{ loc: ["body", "current_password"] }] });
    }
  });

  test("[AU39] the last enabled superuser cannot be deleted", () => {
    const root = { ...ada, is_superuser: true };
    const deletion = (user: User, ...enabledSuperusers: string[]) =>
      deletionProblem(user, { enabledSuperusers, soleAdminOf: [] });
    expect(deletion(root, root.id)).toMatchObject({ kind: "conflict" });
    expect(deletion(root, root.id, "another")).toBeNull();
    expect(deletion(ada, "another")).toBeNull();
  });

  test("[AU40] the only administrator of organizations cannot be deleted, and the refusal names the organizations", () => {
    const problem = deletionProblem(ada, { enabledSuperusers: ["root"], soleAdminOf: ["Docks", "Ships"] });
    expect(problem).toMatchObject({ kind: "conflict", message: expect.stringContaining("Docks, Ships") });
  });
});
