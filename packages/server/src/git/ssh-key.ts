import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { armored, unarmored, wireNumber, wireReader, wireString } from "./ssh-wire.ts";

/** An ed25519 key in the forms that OpenSSH, Git and Git hosts take. */
export interface SshKey {
  /** `ssh-ed25519 AAAA… comment`. */
  readonly publicKey: string;
  /** `SHA256:…`. */
  readonly fingerprint: string;
  /** A private key of OpenSSH without a passphrase. It is a secret. */
  readonly privateKey: string;
}

export const ED25519 = "ssh-ed25519";
const PRIVATE = "OPENSSH PRIVATE KEY";
const MAGIC = Buffer.from("openssh-key-v1\0");
const SEED_BYTES = 32;
/** What stands before the seed in a private key of PKCS #8. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The seed has 32 random bytes. The same seed gives the same key. */
export function sshKeyOf(seed: Buffer, comment: string): SshKey {
  const publicBytes = publicBytesOf(privateKeyOf(seed));
  const blob = Buffer.concat([wireString(ED25519), wireString(publicBytes)]);
  const plainComment = comment.replace(/[^\x21-\x7e]+/g, "-");
  return {
    publicKey: `${ED25519} ${blob.toString("base64")} ${plainComment}`.trimEnd(),
    fingerprint: fingerprintOf(blob),
    privateKey: armored(PRIVATE, privateBlob({ seed, publicBytes, blob, comment: plainComment })),
  };
}

function privateKeyOf(seed: Buffer): KeyObject {
  if (seed.length !== SEED_BYTES) throw new Error(`The seed of a key has ${SEED_BYTES} bytes.`);
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
}

const publicBytesOf = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");

interface PrivateParts {
  readonly seed: Buffer;
  readonly publicBytes: Buffer;
  readonly blob: Buffer;
  readonly comment: string;
}

function privateBlob({ seed, publicBytes, blob, comment }: PrivateParts): Buffer {
  // Two equal numbers, by which a wrong passphrase is noticed. There is none here.
  const check = createHash("sha256").update(publicBytes).digest().subarray(0, 4);
  const secret = [wireString(ED25519), wireString(publicBytes), wireString(Buffer.concat([seed, publicBytes]))];
  const section = Buffer.concat([check, check, ...secret, wireString(comment)]);
  const padding = Buffer.from(Array.from({ length: (8 - (section.length % 8)) % 8 }, (_, index) => index + 1));
  return Buffer.concat([
    MAGIC,
    wireString("none"),
    wireString("none"),
    wireString(""),
    wireNumber(1),
    wireString(blob),
    wireString(Buffer.concat([section, padding])),
  ]);
}

/** Reads an ed25519 key without a passphrase. The error names what is wrong and never quotes the key. */
export function readPrivateKey(text: string): { readonly key: KeyObject; readonly blob: Buffer } {
  const content = unarmored(PRIVATE, text);
  if (!content) throw new Error("The key must be a private key of OpenSSH.");
  const reader = wireReader(content);
  if (!reader.bytes(MAGIC.length).equals(MAGIC)) throw new Error("The key must be a private key of OpenSSH.");
  if (reader.text() !== "none") throw new Error("The key must not have a passphrase.");
  reader.string();
  reader.string();
  reader.number();
  const blob = reader.string();
  const section = wireReader(reader.string());
  section.bytes(8);
  if (section.text() !== ED25519) throw new Error("The key must be an ed25519 key.");
  section.string();
  const seed = section.string().subarray(0, SEED_BYTES);
  return { key: privateKeyOf(seed), blob };
}

export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;

export interface PublicKey {
  readonly type: string;
  readonly blob: Buffer;
  /** The type and the key, without a comment. */
  readonly line: string;
}

/** Reads a line of a public key; null where it is not one. */
export function readPublicKey(line: string): PublicKey | null {
  const [type = "", base64 = ""] = line.trim().split(/\s+/);
  if (!/^[a-z0-9@.-]{1,64}$/.test(type) || !/^[A-Za-z0-9+/]{16,8192}={0,2}$/.test(base64)) return null;
  const blob = Buffer.from(base64, "base64");
  if (!blob.subarray(0, 4 + type.length).equals(wireString(type))) return null;
  return { type, blob, line: `${type} ${blob.toString("base64")}` };
}
