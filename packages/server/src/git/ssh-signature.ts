import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { ED25519, readPrivateKey } from "./ssh-key.ts";
import { armored, unarmored, WireProblem, type WireReader, wireNumber, wireReader, wireString } from "./ssh-wire.ts";

const LABEL = "SSH SIGNATURE";
const MAGIC = "SSHSIG";
const VERSION = 1;
/** A signature that somebody made for another purpose does not count. */
const NAMESPACE = "git";
const HASHES = new Set(["sha256", "sha512"]);

/** Signs as `ssh-keygen -Y sign -n git` does: the same key and content give the same text. */
export function sshSigner(privateKey: string): (content: Buffer) => string {
  const { key, blob } = readPrivateKey(privateKey);
  return (content) => {
    const signature = sign(null, signedData("sha512", content), key);
    return armored(
      LABEL,
      Buffer.concat([
        Buffer.from(MAGIC),
        wireNumber(VERSION),
        wireString(blob),
        wireString(NAMESPACE),
        wireString(""),
        wireString("sha512"),
        wireString(Buffer.concat([wireString(ED25519), wireString(signature)])),
      ]),
    );
  };
}

function signedData(hash: string, content: Buffer): Buffer {
  const digest = createHash(hash).update(content).digest();
  return Buffer.concat([
    Buffer.from(MAGIC),
    wireString(NAMESPACE),
    wireString(""),
    wireString(hash),
    wireString(digest),
  ]);
}

/** Returns the public key that made the signature; null where the signature is not one of this content. */
export async function verifySignature(text: string, content: Buffer): Promise<Buffer | null> {
  try {
    const parsed = parseSignature(text);
    if (!parsed) return null;
    const check = checkOf(parsed.blob, parsed.signature, signedData(parsed.hash, content));
    return check && (await isValid(check)) ? parsed.blob : null;
  } catch (error) {
    // Node refuses a key that is not a point of its curve, for example.
    if (error instanceof WireProblem || (error as NodeJS.ErrnoException).code !== undefined) return null;
    throw error;
  }
}

function parseSignature(text: string): { blob: Buffer; hash: string; signature: Buffer } | null {
  const content = unarmored(LABEL, text);
  if (!content) return null;
  const reader = wireReader(content);
  if (reader.bytes(MAGIC.length).toString("latin1") !== MAGIC || reader.number() !== VERSION) return null;
  const blob = reader.string();
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  const signature = reader.string();
  reader.end();
  return namespace === NAMESPACE && HASHES.has(hash) ? { blob, hash, signature } : null;
}

interface Check {
  readonly key: KeyObject;
  readonly hash: string | null;
  readonly data: Buffer;
  readonly signature: Buffer;
}

/** On a thread, so that the event loop goes on. */
function isValid({ key, hash, data, signature }: Check): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, signature, (error, valid) =>
      error ? reject(error) : resolve(valid),
    );
  });
}

const CURVES = new Map([
  ["nistp256", { crv: "P-256", bytes: 32, hash: "sha256" }],
  ["nistp384", { crv: "P-384", bytes: 48, hash: "sha384" }],
  ["nistp521", { crv: "P-521", bytes: 66, hash: "sha512" }],
]);
const LEAST_RSA_BITS = 2048;

function checkOf(blob: Buffer, wire: Buffer, data: Buffer): Check | null {
  const key = wireReader(blob);
  const signature = wireReader(wire);
  const type = key.text();
  const algorithm = signature.text();
  const check = KEYS[type]?.({ key, signature, algorithm, data });
  if (!check || (algorithm !== type && type !== "ssh-rsa")) return null;
  key.end();
  signature.end();
  return check;
}

interface Parts {
  readonly key: WireReader;
  readonly signature: WireReader;
  readonly algorithm: string;
  readonly data: Buffer;
}

/** The kinds of keys that people have: from files, and from security keys that are touched. */
const KEYS: Readonly<Record<string, (parts: Parts) => Check | null>> = {
  [ED25519]: ({ key, signature, data }) => ({
    key: ed25519Key(key.string()),
    hash: null,
    data,
    signature: signature.string(),
  }),
  "ssh-rsa": ({ key, signature, algorithm, data }) => {
    const [e, n] = [key.string(), key.string()];
    const hash = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" }[algorithm];
    if (hash === undefined || n.length * 8 < LEAST_RSA_BITS) return null;
    const jwk = { kty: "RSA", n: unsigned(n), e: unsigned(e) };
    return { key: createPublicKey({ key: jwk, format: "jwk" }), hash, data, signature: signature.string() };
  },
  "ecdsa-sha2-nistp256": (parts) => ecdsa(parts),
  "ecdsa-sha2-nistp384": (parts) => ecdsa(parts),
  "ecdsa-sha2-nistp521": (parts) => ecdsa(parts),
  "sk-ssh-ed25519@openssh.com": ({ key, signature, data }) => {
    const publicKey = ed25519Key(key.string());
    const made = signature.string();
    return touched({ key: publicKey, hash: null, signature: made }, { key, signature, data });
  },
  "sk-ecdsa-sha2-nistp256@openssh.com": ({ key, signature, data }) => {
    const check = ecdsa({ key, signature, data });
    return check && touched(check, { key, signature, data });
  },
};

const ed25519Key = (point: Buffer): KeyObject =>
  createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") }, format: "jwk" });

function ecdsa({ key, signature, data }: Omit<Parts, "algorithm">): Check | null {
  const curve = CURVES.get(key.text());
  const point = key.string();
  const numbers = wireReader(signature.string());
  if (!curve || point.length !== 1 + 2 * curve.bytes || point[0] !== 4) return null;
  const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
  const jwk = { kty: "EC", crv: curve.crv, x: x.toString("base64url"), y: y.toString("base64url") };
  const made = Buffer.concat([fixed(numbers.string(), curve.bytes), fixed(numbers.string(), curve.bytes)]);
  numbers.end();
  return { key: createPublicKey({ key: jwk, format: "jwk" }), hash: curve.hash, data, signature: made };
}

/** A security key signs that it was touched, for which application, and how often it has signed. */
function touched(check: Omit<Check, "data">, { key, signature, data }: Omit<Parts, "algorithm">): Check | null {
  const application = createHash("sha256").update(key.string()).digest();
  const flags = signature.bytes(1);
  const counter = signature.bytes(4);
  if (((flags[0] ?? 0) & 1) === 0) return null;
  const digest = createHash("sha256").update(data).digest();
  return { ...check, data: Buffer.concat([application, flags, counter, digest]) };
}

/** A number of SSH has a zero byte before a first bit that is set. */
const unsigned = (number: Buffer): string => (number[0] === 0 ? number.subarray(1) : number).toString("base64url");

function fixed(number: Buffer, bytes: number): Buffer {
  const digits = number[0] === 0 ? number.subarray(1) : number;
  if (digits.length > bytes) throw new WireProblem("A number is too large.");
  return Buffer.concat([Buffer.alloc(bytes - digits.length), digits]);
}
