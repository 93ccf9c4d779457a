import type { DeviceError, Scope } from "@binnacle/contract";

/** A device that waits for a person to approve it, as RFC 8628 has it. */
export interface DeviceLogin {
  readonly id: string;
  readonly user_code: string;
  readonly client_name: string;
  readonly scopes: Scope[];
  readonly status: "pending" | "approved" | "denied" | "claimed";
  readonly user_id: string | null;
  readonly interval_seconds: number;
  readonly last_asked_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export const LIFETIME_SECONDS = 600;
export const FIRST_INTERVAL_SECONDS = 5;

/** What a device asks for. */
export interface Wanted {
  readonly clientName: string;
  readonly scopes: readonly Scope[];
}

export function deviceLogin(id: string, userCode: string, { clientName, scopes }: Wanted, now: Date): DeviceLogin {
  return {
    id,
    user_code: userCode,
    client_name: clientName,
    scopes: [...new Set(scopes)],
    status: "pending",
    user_id: null,
    interval_seconds: FIRST_INTERVAL_SECONDS,
    last_asked_at: null,
    created_at: now,
    expires_at: new Date(now.getTime() + LIFETIME_SECONDS * 1000),
  };
}

/** Consonants only: no code spells a word, and none is mistaken for a digit. */
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LENGTH = 8;

/** `BCDF-GHJK`. A byte past the last whole alphabet is skipped, so that no letter is likelier than another. */
export function newUserCode(randomBytes: (size: number) => Uint8Array): string {
  const letters: string[] = [];
  const fair = 256 - (256 % ALPHABET.length);
  while (letters.length < CODE_LENGTH) {
    for (const byte of randomBytes(CODE_LENGTH)) {
      const letter = byte < fair ? ALPHABET[byte % ALPHABET.length] : undefined;
      if (letter && letters.length < CODE_LENGTH) letters.push(letter);
    }
  }
  return `${letters.slice(0, 4).join("")}-${letters.slice(4).join("")}`;
}

/** People type codes in lower case, without the dash or with spaces. */
export function normaliseUserCode(typed: string): string {
  const letters = typed.toUpperCase().replace(/[^A-Z]/g, "");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** Whether a person may still decide about it. */
export const isUndecided = (login: DeviceLogin, now: Date) => login.status === "pending" && login.expires_at > now;

export type Asked =
  | { readonly outcome: "token"; readonly userId: string; readonly next: DeviceLogin }
  | { readonly outcome: DeviceError; readonly next: DeviceLogin };

/** What a device that asks is told. One that asks too soon has to wait longer from then on. */
export function ask(login: DeviceLogin, now: Date): Asked {
  const next = { ...login, last_asked_at: now };
  if (login.expires_at <= now || login.status === "claimed") return { outcome: "expired_token", next: login };
  if (login.status === "denied") return { outcome: "access_denied", next };
  const earliestMs = (login.last_asked_at?.getTime() ?? 0) + login.interval_seconds * 1000;
  if (now.getTime() < earliestMs) {
    return {
      outcome: "slow_down",
      next: { ...next, interval_seconds: login.interval_seconds + FIRST_INTERVAL_SECONDS },
    };
  }
  if (login.status === "approved" && login.user_id !== null) {
    return { outcome: "token", userId: login.user_id, next: { ...next, status: "claimed" } };
  }
  return { outcome: "authorization_pending", next };
}
