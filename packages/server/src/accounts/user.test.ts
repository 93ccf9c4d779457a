import { describe, expect, test } from "vitest";
import {
  currentPasswordMissing,
  currentPasswordWrong,
  deletionProblem,
  normaliseEmail,
  type User,
  wireBinding,
  wireUser,
} from "./user.ts";

const ada: User = {
  id: "0198c0de-0000-7000-8000-00000000000a",
  name: "Ada Lovelace",
  username: "ada",
  email: "ada@example.com",
  profile_image_url: null,
  is_superuser: false,
  tier_name: "free",
  created_at: new Date("2030-01-01T00:00:00Z"),
  updated_at: new Date("2030-01-02T00:00:00Z"),
};

describe("a user", () => {
  test("[AU30] shows these fields and no other, whatever the row holds", () => {
    const row = { ...ada, password_hash: "$argon2id$" };
    expect(wireUser(row)).toEqual({
      id: ada.id,
      name: "Ada Lovelace",
      username: "ada",
      email: "ada@example.com",
      profile_image_url: null,
      is_superuser: false,
      tier: "free",
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-02T00:00:00.000Z",
    });
  });

  test("[AU36] shows a role binding by its id, role and place", () => {
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

  test("[AU33] has one email address, however it is written", () => {
    expect(normaliseEmail("Ada@Example.COM")).toBe("ada@example.com");
  });

  test("[AU18] is told which field a new password lacks", () => {
    for (const problem of [currentPasswordMissing(), currentPasswordWrong()]) {
      expect(problem).toMatchObject({ kind: "invalid", detail: [{ loc: ["body", "current_password"] }] });
    }
  });

  test("[AU39] who is the last superuser stays", () => {
    const root = { ...ada, is_superuser: true };
    expect(deletionProblem(root, { superusers: 1, soleAdminOf: [] })).toMatchObject({ kind: "conflict" });
    expect(deletionProblem(root, { superusers: 2, soleAdminOf: [] })).toBeNull();
    expect(deletionProblem(ada, { superusers: 1, soleAdminOf: [] })).toBeNull();
  });

  test("[AU40] who alone administers organizations stays, and is told which", () => {
    const problem = deletionProblem(ada, { superusers: 1, soleAdminOf: ["Docks", "Ships"] });
    expect(problem).toMatchObject({ kind: "conflict", message: expect.stringContaining("Docks, Ships") });
  });
});
