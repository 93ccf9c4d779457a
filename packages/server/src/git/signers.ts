import { readPublicKey } from "./ssh-key.ts";

/** Whose signature counts. */
export interface AllowedSigner {
  /** As it stands in Git's file of allowed signers: an address or another name without spaces. */
  readonly principal: string;
  /** `ssh-ed25519 AAAA…`; a comment behind it is ignored. */
  readonly publicKey: string;
}

/** The principal of each key. A line that is not a public key is left out: nothing can be signed by it. */
export function principalsByKey(signers: readonly AllowedSigner[]): ReadonlyMap<string, string> {
  return new Map(
    signers.flatMap(({ principal, publicKey }) => {
      const key = readPublicKey(publicKey);
      return key ? [[key.blob.toString("base64"), principal] as const] : [];
    }),
  );
}

/** The file by which anybody can check the commits with `git verify-commit` (`gpg.ssh.allowedSignersFile`). */
export function allowedSignersFile(signers: readonly AllowedSigner[]): string {
  const lines = signers.flatMap(({ principal, publicKey }) => {
    const key = readPublicKey(publicKey);
    // A pattern or a list of names would allow more than one.
    return key ? [`${principal.replace(/[\s"#*?!,]/g, "-")} namespaces="git" ${key.line}\n`] : [];
  });
  return lines.join("");
}
