import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { auditedSettings, distinctSlug, lastAdminProblem, mergeSettings, settingsProblem, slugOf } from "./org.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

describe("the slug of an organization", () => {
  test.each([
    ["Demo", "demo"],
    ["Ops & Platform", "ops-platform"],
    ["  Señor Größe 2 ", "senor-gro-e-2"],
    ["--a--", "a"],
    ["x".repeat(60), "x".repeat(50)],
    [`${"x".repeat(49)} y`, "x".repeat(49)],
    ["東京", `org-${ID}`],
  ])("[OR5] the slug of the name %j is %j", (name, slug) => {
    expect(slugOf(name, ID)).toBe(slug);
  });

  test("[OR5] every organization has a slug of lower-case letters, digits and single hyphens", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }), (name) => {
        expect(slugOf(name, ID)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      }),
    );
  });

  test("[OR5] an organization whose slug is taken gets one with the end of its id", () => {
    expect(distinctSlug("demo", ID)).toBe("demo-0c5d11");
  });
});

describe("the last administrator", () => {
  const admin = (user_id: string, disabled = false) => ({ user_id, disabled });
  const [a, b] = [admin("a"), admin("b")];

  test("[OR13] the last administrator is neither removed nor demoted", () => {
    expect(lastAdminProblem([a], "a", null)?.message).toBe("An organization keeps at least one administrator.");
    expect(lastAdminProblem([a], "a", "member")?.kind).toBe("conflict");
  });

  test("[OR13] the last administrator may be set to administrator again, and others may be removed", () => {
    expect(lastAdminProblem([a], "a", "admin")).toBeNull();
    expect(lastAdminProblem([a], "b", null)).toBeNull();
    expect(lastAdminProblem([a, b], "a", null)).toBeNull();
  });

  test("[OR13] a disabled administrator does not count as the last one", () => {
    const disabled = admin("b", true);
    expect(lastAdminProblem([a, disabled], "a", null)?.kind).toBe("conflict");
    expect(lastAdminProblem([a, disabled], "b", null)).toBeNull();
    expect(lastAdminProblem([disabled], "b", null)?.kind).toBe("conflict");
    expect(lastAdminProblem([disabled, admin("c", true)], "b", null)).toBeNull();
  });
});

describe("the settings of an organization", () => {
  test("[OR15] a merge of settings keeps omitted keys, replaces given ones and removes those that are null", () => {
    const settings = { drift_policy: "heal", theme: { dark: true }, motd: "hello" };
    expect(mergeSettings(settings, { theme: { size: 2 }, motd: null, new: 1, absent: null })).toEqual({
      drift_policy: "heal",
      theme: { size: 2 },
      new: 1,
    });
  });

  test("[OR15] merging the same settings again changes nothing", () => {
    const anySettings = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anySettings, anySettings, (settings, changes) => {
        const merged = mergeSettings(settings, changes);
        expect(mergeSettings(merged, changes)).toEqual(merged);
      }),
    );
  });

  test("[OR17] more than 100 settings are refused", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    expect(settingsProblem(many(100))).toBeNull();
    expect(settingsProblem(many(101))?.detail).toEqual([
      { loc: ["body", "settings"], msg: "An organization has at most 100 settings", type: "value_error" },
    ]);
  });

  test("[AL6] the audit log shows known settings and only names the others", () => {
    const changes = { drift_policy: "report", webhook_token: "s3cret", constructor: "x", motd: null };
    expect(auditedSettings(changes)).toEqual({
      drift_policy: "report",
      webhook_token: "changed",
      constructor: "changed",
      motd: null,
    });
  });
});
