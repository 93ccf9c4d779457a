import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls";

/** A certificate with its issuers, and its key, as they were in their files. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** How a process recognizes another one of its control plane, which it reaches by an address that no certificate names. */
export interface PeerTrust {
  /** The name for which all processes have their certificates. */
  readonly publicHost: string | null;
  /** The certificate of this process, where it has one. */
  certificate(): Certificate | null;
}

/**
 * The options of a connection to another process. A certificate is accepted from the authorities that Node.js knows, and from those in
 * the own file, so that an authority of a company need not be configured once more.
 */
export function trustingOptions({ publicHost, certificate }: PeerTrust) {
  const own = certificate();
  return {
    ...(own ? { ca: [...getCACertificates("default"), own.cert.toString()], allowPartialTrustChain: true } : {}),
    checkServerIdentity(host: string, shown: PeerCertificate): Error | undefined {
      const problem = checkServerIdentity(host, shown);
      return problem && publicHost !== null ? checkServerIdentity(publicHost, shown) : problem;
    },
  };
}

/** The options of a connection to the process that has this certificate, whatever address it is reached by. */
export const trustingOnly = (cert: Buffer) => ({
  ca: cert,
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
});
