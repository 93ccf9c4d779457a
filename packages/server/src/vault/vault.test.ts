import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createVault, type Place, parseVaultKeys, SealBroken, type VaultKey } from "./vault.ts";

const oldKey: VaultKey = { id: "2029", key: new Uint8Array(32).fill(1) };
const newKey: VaultKey = { id: "2030", key: new Uint8Array(32).fill(2) };
const place: Place = { table: "registries", row: "7", column: "password" };

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("");

const vault = createVault([oldKey]);
const rotated = createVault([newKey, oldKey]);
const withoutOld = createVault([newKey]);

const secret = fc.string({ unit: "binary" });
const name = fc.string({ unit: "binary", maxLength: 6 });
const anyPlace = fc.record({ table: name, row: name, column: name });
const keyId = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/);
const keyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

function failureOf(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it did not fail");
}

describe("vault", () => {
  test("[VA1] a sealed string is the version, the key id, the nonce and the ciphertext with its tag", () => {
    const sealed = createVault([oldKey], (size) => new Uint8Array(size)).seal("hunter2", place);
    const [version, id, nonce, box, ...rest] = sealed.split(".");
    expect([version, id, nonce, rest]).toEqual(["v1", "2029", "A".repeat(16), []]);
    expect(Buffer.from(box ?? "", "base64url")).toHaveLength("hunter2".length + 16);
  });

  test("[VA1] the format and the derivation of keys do not change, so that stored secrets keep opening", () => {
    const sealed = createVault([oldKey], (size) => new Uint8Array(size)).seal("hunter2", place);
    expect(sealed).toBe("v1.2029.AAAAAAAAAAAAAAAA.hg5WA72OYDnYG7fxpFfmOs38W9vubhc");
    expect(vault.open(sealed, place)).toBe("hunter2");
  });

  test("[VA1] sealing the same secret twice gives two strings", () => {
    expect(vault.seal("hunter2", place)).not.toBe(vault.seal("hunter2", place));
  });

  test("[VA2] a sealed string opens in its place to the same text", () => {
    for (const text of ["", "hunter2", "\uFEFFmark", "\u0000", "naïve 🧭 ключ"]) {
      expect(vault.open(vault.seal(text, place), place)).toBe(text);
    }
    fc.assert(
      fc.property(secret, anyPlace, (text, where) => {
        expect(vault.open(vault.seal(text, where), where)).toBe(text);
      }),
    );
  });

  test("[VA2] text that is not well-formed unicode is refused, not altered", () => {
    expect(() => vault.seal("\uD800", place)).toThrow(TypeError);
    expect(() => vault.seal("hunter2", { ...place, row: "\uD800" })).toThrow(TypeError);
  });

  test("[VA3] a sealed string with any bit of its nonce, ciphertext or tag flipped does not open", () => {
    fc.assert(
      fc.property(secret, fc.nat(), fc.integer({ min: 0, max: 7 }), (text, position, bit) => {
        const [version, id, nonce = "", box = ""] = vault.seal(text, place).split(".");
        const bytes = Buffer.concat([Buffer.from(nonce, "base64url"), Buffer.from(box, "base64url")]);
        const index = position % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index);
        const flipped = [bytes.subarray(0, 12), bytes.subarray(12)].map((part) => part.toString("base64url"));
        expect(() => vault.open([version, id, ...flipped].join("."), place)).toThrow(SealBroken);
      }),
    );
  });

  test("[VA3] a sealed string with any character replaced does not open", () => {
    const replacement = fc.constantFrom(...BASE64URL, ".", "+", "/", "=", " ", "\n");
    fc.assert(
      fc.property(secret, fc.nat(), replacement, (text, position, character) => {
        const sealed = rotated.seal(text, place);
        const index = position % sealed.length;
        fc.pre(sealed[index] !== character);
        const altered = sealed.slice(0, index) + character + sealed.slice(index + 1);
        expect(() => rotated.open(altered, place)).toThrow(SealBroken);
      }),
      { numRuns: 1_000 },
    );
  });

  test("[VA3] the last character of a sealed string cannot be replaced by another one", () => {
    const sealed = vault.seal("", place);
    const respelt = BASE64URL.map((character) => sealed.slice(0, -1) + character).filter(
      (candidate) => candidate !== sealed,
    );
    for (const candidate of respelt) expect(() => vault.open(candidate, place)).toThrow(SealBroken);
  });

  test("[VA3] a shortened, lengthened or unsealed string does not open", () => {
    const sealed = vault.seal("hunter2", place);
    for (const broken of [
      "",
      "hunter2",
      "v1",
      "v1.2029..",
      sealed.slice(0, -1),
      sealed.slice(0, -4),
      `${sealed}AAAA`,
    ]) {
      expect(() => vault.open(broken, place)).toThrow(SealBroken);
    }
  });

  test("[VA4] a sealed string moved to another table, row or column does not open", () => {
    const sealed = vault.seal("hunter2", place);
    for (const moved of [{ table: "clusters" }, { row: "8" }, { column: "token" }]) {
      expect(() => vault.open(sealed, { ...place, ...moved })).toThrow(SealBroken);
    }
  });

  test("[VA4] a sealed string of one place does not open in another", () => {
    const neighbours = anyPlace.chain((here) =>
      fc.tuple(
        fc.constant(here),
        fc.oneof(
          anyPlace,
          fc.constant({ table: here.table + here.row, row: "", column: here.column }),
          fc.constant({ table: here.table, row: "", column: here.row + here.column }),
          fc.constant({ table: here.row, row: here.table, column: here.column }),
        ),
      ),
    );
    fc.assert(
      fc.property(neighbours, ([here, there]) => {
        fc.pre(here.table !== there.table || here.row !== there.row || here.column !== there.column);
        expect(() => vault.open(vault.seal("hunter2", here), there)).toThrow(SealBroken);
      }),
    );
  });

  test("[VA4] a sealed string relabelled with another key id does not open, even when the keys are the same", () => {
    const twins = createVault([oldKey, { id: "2031", key: oldKey.key }]);
    const relabelled = twins.seal("hunter2", place).replace("v1.2029.", "v1.2031.");
    expect(twins.sealedWith(relabelled)).toBe("2031");
    expect(() => twins.open(relabelled, place)).toThrow(SealBroken);
  });

  test("[VA5] the first vault key seals and every configured key opens, until it is removed", () => {
    fc.assert(
      fc.property(secret, anyPlace, (text, where) => {
        const sealed = vault.seal(text, where);
        expect(vault.needsReseal(sealed)).toBe(false);
        expect(rotated.open(sealed, where)).toBe(text);
        expect(rotated.sealedWith(sealed)).toBe("2029");
        expect(rotated.needsReseal(sealed)).toBe(true);
        expect(() => withoutOld.open(sealed, where)).toThrow(SealBroken);

        const resealed = rotated.seal(rotated.open(sealed, where), where);
        expect(rotated.sealedWith(resealed)).toBe("2030");
        expect(rotated.needsReseal(resealed)).toBe(false);
        expect(withoutOld.open(resealed, where)).toBe(text);
      }),
    );
  });

  test("[VA5] a vault key of the same id but other bytes does not open a sealed string", () => {
    const impostor = createVault([{ id: oldKey.id, key: newKey.key }]);
    expect(() => impostor.open(vault.seal("hunter2", place), place)).toThrow(SealBroken);
  });

  test("[VA5] a text that is not a sealed string has no key id", () => {
    expect(() => vault.sealedWith("hunter2")).toThrow(SealBroken);
    expect(() => vault.needsReseal("hunter2")).toThrow(SealBroken);
  });

  test("[VA6] a broken seal names the place and the key id and never the contents", () => {
    const sealed = vault.seal("hunter2", place);
    const moved = failureOf(() => vault.open(sealed, { ...place, row: "8" }));
    expect(moved.message).toMatch(/registries\.password of row 8 .*2029/);
    const unknown = failureOf(() => withoutOld.open(sealed, place));
    expect(unknown.message).toMatch(/registries\.password of row 7 .*2029/);
    const unsealed = failureOf(() => vault.open("hunter2", place));
    expect(unsealed.message).toMatch(/registries\.password of row 7/);
    const box = sealed.slice(sealed.lastIndexOf(".") + 1);
    for (const failure of [moved, unknown, unsealed]) {
      expect(failure).toBeInstanceOf(SealBroken);
      expect(inspect(failure)).not.toContain("hunter2");
      expect(inspect(failure)).not.toContain(box);
    }
  });

  test("[VA7] a vault needs a key, keys of 32 bytes, well-formed ids and no id twice", () => {
    expect(() => createVault([])).toThrow("at least one key");
    expect(() => createVault([{ id: "short", key: new Uint8Array(31) }])).toThrow("31 bytes");
    expect(() => createVault([oldKey, { id: "long", key: new Uint8Array(33) }])).toThrow("33 bytes");
    expect(() => createVault([{ ...oldKey, id: "a.b" }])).toThrow("id of a vault key");
    expect(() => createVault([{ ...oldKey, id: "" }])).toThrow("id of a vault key");
    expect(() => createVault([oldKey, newKey, { ...newKey, id: oldKey.id }])).toThrow("same id");
  });
});

describe("configured vault keys", () => {
  const encode = ({ id, key }: VaultKey) => `${id}:${Buffer.from(key).toString("base64")}`;

  test("[VA8] vault keys are read in their order from id:base64 pairs", () => {
    const anyKeys = fc.array(fc.record({ id: keyId, key: keyBytes }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyKeys, fc.constantFrom(",", ", ", ",\n"), (keys, separator) => {
        const parsed = parseVaultKeys(keys.map(encode).join(separator));
        expect(parsed.map(encode)).toEqual(keys.map(encode));
      }),
    );
  });

  test("[VA8] a malformed vault key is refused with its position, and the message has nothing of the text", () => {
    const good = Buffer.alloc(32, "Binnacle").toString("base64");
    const hex = Buffer.alloc(16, "Binnacle").toString("hex");
    const malformed = [
      "",
      good,
      `:${good}`,
      "only-an-id:",
      `a.b:${good}`,
      `${"x".repeat(33)}:${good}`,
      `k:${good.slice(0, -1)}`,
      `k:${good.slice(4)}`,
      `k:${good}AAAA`,
      `k:!${good}`,
      `k:${good}:${good}`,
      `${good}:k`,
      `${hex}:k`,
      `k:${hex}`,
    ];
    for (const entry of malformed) {
      const { message } = failureOf(() => parseVaultKeys(`first:${good},${entry}`));
      expect(message).toMatch(/^vault key 2 is not of the form id:base64/);
      expect(message).not.toContain(good.slice(4, 12));
      expect(message).not.toContain(hex.slice(0, 8));
    }
  });

  test("[VA8] the message about a malformed vault key is the same whatever the text is", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes(",")),
        (text) => {
          expect(failureOf(() => parseVaultKeys(text)).message).toBe(failureOf(() => parseVaultKeys("")).message);
        },
      ),
    );
  });
});
