import { createHmac } from "node:crypto";
import { SealBroken, type Vault } from "../vault/vault.ts";

/** Enough that nobody finds two secrets with one fingerprint. */
const FINGERPRINT_DIGITS = 32;

/**
 * A vault that opens every secret as its fingerprint. What is made of it holds no secret, whichever code makes it, and changes when a
 * secret changes. Without the key nobody can try values, and equal secrets in two places have different fingerprints.
 */
export const fingerprintVault = (vault: Vault, key: string): Vault => ({
  ...vault,
  open(sealed, place) {
    const secret = openedOrNull(vault, sealed, place);
    if (secret === null) return "hmac-sha256:unreadable";
    const { table, row, column } = place;
    const digest = createHmac("sha256", key)
      .update(JSON.stringify([table, row, column, secret]))
      .digest("hex");
    return `hmac-sha256:${digest.slice(0, FINGERPRINT_DIGITS)}`;
  },
});

function openedOrNull(vault: Vault, ...[sealed, place]: Parameters<Vault["open"]>): string | null {
  try {
    return vault.open(sealed, place);
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}
