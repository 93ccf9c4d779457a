import { generateKeyPairSync, randomBytes } from "node:crypto";
import { nodeTokenHash } from "./node-token.ts";

export interface SshKeyPair {
  /** One line, as in `authorized_keys`. */
  readonly publicKey: string;
  /** In the format of OpenSSH, which every version of `ssh` reads; PKCS #8 needs OpenSSH 9.6. */
  readonly privateKey: string;
}

const KEY_TYPE = "ssh-ed25519";
const BLOCK_BYTES = 8;

/** A new Ed25519 key pair without a passphrase; the private key is sealed by whoever stores it. */
export function newSshKeyPair(comment: string): SshKeyPair {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x = "", d = "" } = privateKey.export({ format: "jwk" });
  const publicBytes = Buffer.from(x, "base64url");
  const privateBytes = Buffer.concat([Buffer.from(d, "base64url"), publicBytes]);
  const publicBlob = Buffer.concat([field(KEY_TYPE), field(publicBytes)]);
  // The same number twice shows a reader that a passphrase was right; without one it is only required.
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    field(KEY_TYPE),
    field(publicBytes),
    field(privateBytes),
    field(comment),
  ]);
  const padding = Buffer.from(
    Array.from({ length: (BLOCK_BYTES - (secret.length % BLOCK_BYTES)) % BLOCK_BYTES }, (_, index) => index + 1),
  );
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    field("none"),
    field("none"),
    field(""),
    number(1),
    field(publicBlob),
    field(Buffer.concat([secret, padding])),
  ]);
  return {
    publicKey: `${KEY_TYPE} ${publicBlob.toString("base64")} ${comment}`,
    privateKey: [
      "-----BEGIN OPENSSH PRIVATE KEY-----",
      ...(file.toString("base64").match(/.{1,70}/g) ?? []),
      "-----END OPENSSH PRIVATE KEY-----",
      "",
    ].join("\n"),
  };
}

function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The secret with which machines join the cluster. */
export const newJoinToken = (): string => randomBytes(32).toString("hex");

/** The single-use secret of one machine, and the hash of it that is stored. */
export function newNodeToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString("hex");
  return { token, hash: nodeTokenHash(token) };
}
