import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { ConfigProblems } from "@binnacle/process";
import type { FastifyInstance } from "fastify";
import type { Certificate } from "../certificate-trust.adapter.ts";
import { SETTINGS } from "../config/variables.ts";
import type { Log } from "../outage.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The certificate of this process, which follows its files. */
export interface ServedCertificate {
  current(): Certificate;
  /** Gives the server each new certificate, until the server closes. */
  follow(app: FastifyInstance): void;
}

/**
 * The files are compared by their contents. Whoever renews certificates may keep their times, or swap a link to their folder, as
 * Kubernetes does with Secrets.
 */
const COMPARE_EVERY_MS = 5_000;

const { name: CERT } = SETTINGS.tlsCertFile;
const { name: KEY } = SETTINGS.tlsKeyFile;

/** Throws ConfigProblems where the files are not usable. */
export async function openCertificate(
  files: CertificateFiles,
  log: Log,
  everyMs = COMPARE_EVERY_MS,
): Promise<ServedCertificate> {
  let current = await readCertificate(files);
  log.info(factsOf(current), "serving TLS");
  return {
    current: () => current,
    follow(app) {
      const compare = comparison(files, log, (renewed) => {
        (app.server as unknown as Server).setSecureContext(secureOptions(renewed));
        current = renewed;
      });
      let comparing: Promise<void> | null = null;
      const timer = setInterval(() => {
        comparing ??= compare(current).finally(() => {
          comparing = null;
        });
      }, everyMs).unref();
      app.addHook("onClose", async () => {
        clearInterval(timer);
        await comparing;
      });
      closeUnfinishedHandshakes(app);
    },
  };
}

/** TLS 1.2 is the oldest version that is not deprecated. */
export const secureOptions = ({ cert, key }: Certificate) => ({ cert, key, minVersion: "TLSv1.2" as const });

/** Throws ConfigProblems. Its messages have the paths and codes of errors, and nothing that is in the files. */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.allSettled([readFile(certFile), readFile(keyFile)]);
  const problems = [unreadable(CERT, certFile, cert), unreadable(KEY, keyFile, key)].filter((one) => one !== null);
  if (cert.status === "rejected" || key.status === "rejected") throw new ConfigProblems(problems);
  const certificate = { cert: cert.value, key: key.value };
  const problem = unusable(certificate);
  if (problem) throw new ConfigProblems([problem]);
  return certificate;
}

function unreadable(variable: string, path: string, result: PromiseSettledResult<Buffer>): string | null {
  if (result.status === "fulfilled") return null;
  return `${variable}: the file ${path} cannot be read (${(result.reason as NodeJS.ErrnoException).code})`;
}

function unusable(certificate: Certificate): string | null {
  const leaf = parsed(() => new X509Certificate(certificate.cert));
  if (!leaf || !certificate.cert.includes("-----BEGIN")) return `${CERT}: the file has no certificate in PEM`;
  const key = parsed<KeyObject>(() => createPrivateKey(certificate.key));
  if (!key) return `${KEY}: the file has no private key in PEM that can be read without a password`;
  if (!leaf.checkPrivateKey(key))
    return `${KEY}: the file has another key than that of the first certificate in the file of ${CERT}; the certificate of the server comes first`;
  try {
    createSecureContext(secureOptions(certificate));
    return null;
  } catch (error) {
    return `${CERT}: TLS cannot be served with this certificate (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** The errors of OpenSSL say little, and nobody has checked that they quote nothing. */
function parsed<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function factsOf({ cert }: Certificate) {
  const { subjectAltName: names, validToDate } = new X509Certificate(cert);
  return { names, valid_until: validToDate.toISOString() };
}

/** Whoever renews writes one file after the other, so that a problem is only one when it is there twice in a row. */
function comparison(files: CertificateFiles, log: Log, onRenewed: (renewed: Certificate) => void) {
  let seen = { problem: "", times: 0 };
  return async (current: Certificate): Promise<void> => {
    try {
      const found = await readCertificate(files);
      seen = { problem: "", times: 0 };
      if (found.cert.equals(current.cert) && found.key.equals(current.key)) return;
      onRenewed(found);
      log.info(factsOf(found), "the certificate has changed; new connections get the new one");
    } catch (error) {
      const [problem = ""] = error instanceof ConfigProblems ? error.problems : [(error as Error).message];
      seen = { problem, times: problem === seen.problem ? seen.times + 1 : 1 };
      if (seen.times === 2) log.error({ problem }, "the changed certificate is not usable; the former one is served");
    }
  };
}

/** A connection that has not finished its handshake is not yet one of HTTP, and the stop of the server would wait for it. */
function closeUnfinishedHandshakes(app: FastifyInstance): void {
  const unfinished = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  let isClosing = false;
  app.server.on("connection", (socket: Socket) => {
    if (isClosing) {
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    unfinished.set(name, socket);
    socket.once("close", () => {
      if (unfinished.get(name) === socket) unfinished.delete(name);
    });
  });
  app.server.on("secureConnection", (socket: Socket) => unfinished.delete(nameOf(socket)));
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const socket of unfinished.values()) socket.destroy();
  });
}
