import {
  type CredentialChanges,
  type CredentialInput,
  cloudOf,
  createCredential,
  maskedEnd,
  PROVIDERS,
  updateCredential,
} from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "../http/checked.fixture.ts";
import { auditedCredential, stillInUse } from "./credential.ts";

const inputProblems = (body: CredentialInput) => bodyProblems(createCredential, body);
const changeProblems = (body: CredentialChanges) => bodyProblems(updateCredential, body);

describe("the id of a key", () => {
  test.each([
    ["AKIAIOSFODNN7EXAMPLE", "****MPLE"],
    ["ABCDE", "****BCDE"],
    ["ABCD", "****"],
    ["A", "****"],
  ])("[CR3] the key id %s is shown as %s", (keyId, shown) => {
    expect(maskedEnd(keyId)).toBe(shown);
  });

  test("[CR3] a key id is never shown whole", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 128 }), (keyId) => {
        expect(maskedEnd(keyId).replace("****", "").length).toBeLessThan(keyId.length);
      }),
    );
  });
});

describe("the body of a credential", () => {
  test("[CR5] the body of a credential of aws needs region, key id and secret", () => {
    const missing = inputProblems({ name: "x", provider: "aws" });
    expect(missing.map(({ loc, type }) => [loc[1], type])).toEqual([
      ["region", "missing"],
      ["access_key_id", "missing"],
      ["secret_access_key", "missing"],
    ]);
    const whole = { region: "eu-central-1", access_key_id: "AKIA", secret_access_key: "s" };
    expect(inputProblems({ name: "x", provider: "aws", ...whole })).toEqual([]);
  });

  test.each(PROVIDERS.filter((provider) => !cloudOf(provider)))(
    "[CR6] the body of a credential of %s needs no fields yet",
    (provider) => {
      expect(inputProblems({ name: "x", provider })).toEqual([]);
    },
  );

  test("[CR9] a change of a credential's key id also needs its secret", () => {
    expect(changeProblems({ access_key_id: "AKIA" })).toMatchObject([{ loc: ["body", "secret_access_key"] }]);
    expect(changeProblems({ access_key_id: "AKIA", secret_access_key: "s" })).toEqual([]);
    expect(changeProblems({ secret_access_key: "s" })).toEqual([]);
    expect(changeProblems({})).toEqual([]);
  });

  test("[CR11] the audit log has the body of a credential without its secret", () => {
    const body = { name: "x", access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: "s3cret" };
    expect(auditedCredential("aws", body)).toEqual({
      name: "x",
      access_key_id: "****MPLE",
      secret_access_key: "changed",
    });
    expect(auditedCredential("aws", { name: "y" })).toEqual({ name: "y" });
  });
});

test("[CR10] the refusal to delete a credential in use names what uses it", () => {
  expect(stillInUse(["production", "staging"]).detail).toBe(
    "The credential is in use by production, staging. Delete what uses it first.",
  );
});
