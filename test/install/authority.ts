import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOST, NODE_DIR } from "./node.ts";

const pki = (name: string) => join(NODE_DIR, "pki", name);

/** Where the certificate of the authority is. Its key is that of the node's, which up.sh has made. */
export const AUTHORITY_FILE = pki("ca.crt");

/** A key with a certificate for this machine, as a company signs them for its own servers. */
export function certificate(name: string): { key: Buffer; cert: Buffer } {
  const folder = join(NODE_DIR, "certificates", name);
  mkdirSync(folder, { recursive: true });
  const at = (file: string) => join(folder, file);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", at("key.pem")];
  openssl("req", ...key, "-subj", `/CN=${name}`, "-out", at("request.pem"));
  writeFileSync(at("extensions"), `subjectAltName=IP:${HOST}\nextendedKeyUsage=serverAuth\n`);
  const signer = ["-CA", AUTHORITY_FILE, "-CAkey", pki("ca.key"), "-CAcreateserial", "-days", "2"];
  openssl("x509", "-req", "-in", at("request.pem"), ...signer, "-extfile", at("extensions"), "-out", at("cert.pem"));
  return { key: readFileSync(at("key.pem")), cert: readFileSync(at("cert.pem")) };
}
