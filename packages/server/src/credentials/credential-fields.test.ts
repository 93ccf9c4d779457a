import { type Cloud, type CloudField, fieldsOfAll } from "@binnacle/contract";
import Type from "typebox";
import { describe, expect, test } from "vitest";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { dividedFields, openedFields, sealedWith, secretsInside } from "./credential-fields.ts";

const vault = createVault(parseVaultKeys(`test:${Buffer.alloc(32, 7).toString("base64")}`));
const id = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const place = { table: "cloud_credentials", row: id, column: "sealed_secret" };
const schema = Type.String();
const field = { label: "x", schema };
const secret = { ...field, secret: true } as const;

const KEY_PAIR = { region: field, key_id: { ...field, masked: true }, key: secret } satisfies Record<
  string,
  CloudField
>;
const DOCUMENT = { project: field, document: secret, passphrase: secret } satisfies Record<string, CloudField>;
const GIVEN = { name: "x", project: "shop", document: '{\n "key": "a\\nb"\n}', passphrase: "open sesame" };

const created = (given: object) => {
  const { settings, secrets } = dividedFields(DOCUMENT, given);
  return { id, settings, sealed_secret: sealedWith({ id, sealed_secret: null }, DOCUMENT, secrets, vault) };
};

describe("the secrets of a credential", () => {
  test("[CR294] several secrets are sealed as one document and opened again, and only they are", () => {
    const { name: _, ...access } = GIVEN;
    const credential = created(GIVEN);
    expect(credential.settings).toEqual({ project: "shop" });
    expect(credential.sealed_secret).not.toContain("sesame");
    expect(openedFields(credential, DOCUMENT, null, vault)).toEqual({ access });
  });

  test("[CR294] a secret that is changed alone leaves the others as they are", () => {
    const before = created(GIVEN);
    const sealed_secret = sealedWith(before, DOCUMENT, { passphrase: "new" }, vault);
    expect(openedFields({ ...before, sealed_secret }, DOCUMENT, null, vault)).toMatchObject({
      access: { document: GIVEN.document, passphrase: "new" },
    });
    expect(sealedWith(before, DOCUMENT, {}, vault)).toBe(before.sealed_secret);
  });

  test("[CR294] secrets that are all replaced are not opened, so the loss of a key can be repaired", () => {
    const lost = { id, sealed_secret: "sealed with a key that is gone" };
    const { document, passphrase } = GIVEN;
    expect(() => sealedWith(lost, DOCUMENT, { passphrase }, vault)).toThrow();
    expect(sealedWith(lost, DOCUMENT, { document, passphrase }, vault)).not.toBeNull();
  });

  test("[CR293] the only secret of a provider is sealed as it is, which releases before read and have written", () => {
    const { settings, secrets } = dividedFields(KEY_PAIR, { region: "eu", key_id: "id", key: "s3cret" });
    const sealed_secret = sealedWith({ id, sealed_secret: null }, KEY_PAIR, secrets, vault) ?? "";
    expect(vault.open(sealed_secret, place)).toBe("s3cret");
    expect(openedFields({ id, settings, sealed_secret }, KEY_PAIR, "eu", vault)).toEqual({
      access: { region: "eu", key_id: "id", key: "s3cret" },
    });
  });

  test("[CR294] the only secret of a provider may have several lines", () => {
    const fields = { document: secret };
    const text = '{\n "key": 1\n}';
    const sealed_secret = sealedWith({ id, sealed_secret: null }, fields, { document: text }, vault);
    expect(openedFields({ id, settings: {}, sealed_secret }, fields, null, vault)).toEqual({
      access: { document: text },
    });
  });
});

test.each([
  ["a document", '{ "project": "shop", "keys": [{ "private_key": "BEGIN\\nabc" }] }', ["BEGIN\nabc"]],
  ["a text that is not a document", "wJalrXUtnFEMI/K7MDENG", []],
  ["a text that is JSON", '"private_key"', []],
])("[PV37] the secrets inside %s are found, and nothing else of it", (_, text, secrets) => {
  expect(secretsInside(text)).toEqual(secrets);
});

describe("an opened credential", () => {
  test("[CR295] a credential without a field that its provider needs is opened as what it lacks", () => {
    expect(openedFields({ id, settings: {}, sealed_secret: null }, DOCUMENT, null, vault)).toEqual({
      lacks: ["project", "document", "passphrase"],
    });
    const stored = { id, settings: { key_id: "id" }, sealed_secret: vault.seal("s3cret", place) };
    expect(openedFields(stored, KEY_PAIR, null, vault)).toEqual({ lacks: ["region"] });
  });

  test("[CR297] a credential can do without an optional field, and is opened with it where it has one", () => {
    const fields = { ...KEY_PAIR, bucket: { ...field, optional: true } } satisfies Record<string, CloudField>;
    const stored = { id, settings: { key_id: "id" }, sealed_secret: vault.seal("s3cret", place) };
    const access = { region: "eu", key_id: "id", key: "s3cret" };
    expect(openedFields(stored, fields, "eu", vault)).toEqual({ access });
    const withBucket = { ...stored, settings: { key_id: "id", bucket: "snapshots" } };
    expect(openedFields(withBucket, fields, "eu", vault)).toEqual({ access: { ...access, bucket: "snapshots" } });
  });

  test("[CR295] a provider whose credentials have no region is opened without one", () => {
    const opened = openedFields(created(GIVEN), DOCUMENT, "eu-central-1", vault);
    expect(Object.keys("access" in opened ? opened.access : {})).toEqual(["project", "document", "passphrase"]);
  });
});

test("[CR296] two providers share a field only where it means the same", () => {
  const cloud = { name: "x", needs: "x", instance_types: [], default_instance_type: "x" };
  const of = (given: Cloud["fields"]): Cloud => ({ ...cloud, fields: given });
  expect(Object.keys(fieldsOfAll([of({ region: field }), of({ region: field, token: secret })]))).toEqual([
    "region",
    "token",
  ]);
  expect(() => fieldsOfAll([of({ token: field }), of({ token: secret })])).toThrow("different fields token");
});
