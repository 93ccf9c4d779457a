import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate with its key, both in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

interface Wanted {
  /** DNS names and IPv4 addresses; the first one is the subject. */
  readonly names: readonly string[];
  /** Signed by itself without one. */
  readonly issuer?: TestCertificate & { readonly name: string };
  readonly isAuthority?: boolean;
}

/** Makes a certificate without a program of the machine, which tests may not need. */
export function makeCertificate({ names, issuer, isAuthority = false }: Wanted): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [subject = ""] = names;
  const now = Date.now();
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer?.name ?? subject),
    sequence(time(now - 3_600_000), time(now + 24 * 3_600_000)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(alternativeNames(names), basicConstraints(isAuthority))),
  );
  const signature = sign("sha256", body, issuer ? createPrivateKey(issuer.key) : privateKey);
  const der = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, Buffer.from([0]), signature));
  return { cert: pem("CERTIFICATE", der), key: pemOf(privateKey) };
}

const pemOf = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();

const pem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;

/** A value of DER: its tag, its length, and what it holds. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts);
const integer = (bytes: Buffer) => tagged(0x02, bytes);
const octets = (bytes: Buffer) => tagged(0x04, bytes);
const identifier = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
const ECDSA_WITH_SHA256 = sequence(identifier("2a8648ce3d040302"));

const nameOf = (commonName: string) =>
  sequence(tagged(0x31, sequence(identifier("550403"), tagged(0x0c, Buffer.from(commonName)))));

const time = (atMs: number) =>
  tagged(0x17, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) ? tagged(0x87, Buffer.from(name.split(".").map(Number))) : tagged(0x82, Buffer.from(name)),
  );
  return sequence(identifier("551d11"), octets(sequence(...entries)));
}

const basicConstraints = (isAuthority: boolean) =>
  sequence(
    identifier("551d13"),
    tagged(0x01, Buffer.from([255])),
    octets(sequence(...(isAuthority ? [tagged(0x01, Buffer.from([255]))] : []))),
  );
