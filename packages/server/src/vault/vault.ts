/** Seals secrets for the database, so that a copy of its rows is useless without the configured keys. */

import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";

export interface VaultKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** The place of a sealed string. It cannot be opened anywhere else. */
export interface Place {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

export interface Vault {
  seal(plaintext: string, place: Place): string;
  /** Throws SealBroken. */
  open(sealed: string, place: Place): string;
  /** Returns the id of the key that sealed the string. Throws SealBroken. */
  sealedWith(sealed: string): string;
  /** Returns whether another key than the first one sealed the string. Throws SealBroken. */
  needsReseal(sealed: string): boolean;
}

export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

const FORMAT = "v1";
const CIPHER = "aes-256-gcm";
const PURPOSE = "binnacle vault v1: secrets at rest";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const SEALED = /^v1\.(?<keyId>[A-Za-z0-9_-]{1,32})\.(?<nonce>[A-Za-z0-9_-]{16})\.(?<box>[A-Za-z0-9_-]{22,})$/;

/** The first key seals; all keys open. */
export function createVault(keys: readonly VaultKey[], draw: (size: number) => Uint8Array = randomBytes): Vault {
  const [sealing] = keys;
  if (sealing === undefined) throw new Error("a vault needs at least one key");
  const sealingKey = derivedKey(sealing);
  const keyring = new Map(keys.map((key) => [key.id, derivedKey(key)]));
  if (keyring.size < keys.length) throw new Error("two vault keys have the same id");

  return {
    seal(plaintext, place) {
      const nonce = draw(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, sealingKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(sealing.id, place));
      const box = Buffer.concat([cipher.update(utf8(plaintext)), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, sealing.id, base64url(nonce), base64url(box)].join(".");
    },

    open(sealed, place) {
      const where = `${place.table}.${place.column} of row ${place.row}`;
      const parts = parseSealed(sealed);
      if (parts === null) throw new SealBroken(`${where} is not a sealed string`);
      const key = keyring.get(parts.keyId);
      if (key === undefined) throw new SealBroken(`${where} is sealed with the unknown key ${parts.keyId}`);
      const decipher = createDecipheriv(CIPHER, key, parts.nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(parts.keyId, place));
      decipher.setAuthTag(parts.box.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(parts.box.subarray(0, -TAG_BYTES)), decipher.final()]).toString("utf8");
      } catch {
        throw new SealBroken(`${where} does not open with key ${parts.keyId}: it was altered, moved or relabelled`);
      }
    },

    sealedWith,
    needsReseal: (sealed) => sealedWith(sealed) !== sealing.id,
  };
}

/**
 * Parses `id:base64,id2:base64`. Messages have the number of an entry, because in a mistyped one even the id may be key
 * material.
 */
export function parseVaultKeys(text: string): VaultKey[] {
  return text.split(",").map((entry, index) => {
    const [id = "", encoded = "", ...rest] = entry.trim().split(":");
    const key = Buffer.from(encoded, "base64");
    // Node ignores invalid base64, so only encoding it again reveals a mistyped key.
    const isKey = key.length === KEY_BYTES && key.toString("base64") === encoded;
    if (!KEY_ID.test(id) || !isKey || rest.length > 0) {
      throw new Error(
        `vault key ${index + 1} is not of the form id:base64, with an id of 1 to 32 letters, digits, "_" and "-" ` +
          `and the padded base64 of ${KEY_BYTES} bytes`,
      );
    }
    return { id, key };
  });
}

function derivedKey({ id, key }: VaultKey): KeyObject {
  if (!KEY_ID.test(id)) throw new Error('the id of a vault key is 1 to 32 letters, digits, "_" and "-"');
  if (key.length !== KEY_BYTES) throw new Error(`vault key ${id} has ${key.length} bytes instead of ${KEY_BYTES}`);
  return createSecretKey(Buffer.from(hkdfSync("sha256", key, "", PURPOSE, KEY_BYTES)));
}

function sealedWith(sealed: string): string {
  const parts = parseSealed(sealed);
  if (parts === null) throw new SealBroken("not a sealed string");
  return parts.keyId;
}

function parseSealed(sealed: string): { keyId: string; nonce: Buffer; box: Buffer } | null {
  const { keyId, nonce, box } = SEALED.exec(sealed)?.groups ?? {};
  if (keyId === undefined || nonce === undefined || box === undefined) return null;
  const decoded = Buffer.from(box, "base64url");
  // The last character of base64 can have unused bits. If they are set, the string was altered.
  if (base64url(decoded) !== box) return null;
  return { keyId, nonce: Buffer.from(nonce, "base64url"), box: decoded };
}

/** The additional authenticated data. Every part has its length, so that two places never have the same encoding. */
function boundTo(keyId: string, { table, row, column }: Place): Buffer {
  return Buffer.concat(
    [FORMAT, keyId, table, row, column].flatMap((part) => {
      const bytes = utf8(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** A lone surrogate has no UTF-8 encoding and would be altered, so it is refused. */
function utf8(text: string): Buffer {
  if (!text.isWellFormed()) throw new TypeError("only well-formed unicode can be sealed");
  return Buffer.from(text, "utf8");
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
