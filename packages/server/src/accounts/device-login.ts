import type { DeviceError, Scope } from "@binnacle/contract";
import { Fault } from "../fault.ts";

/** A device that waits for a person to approve it, as RFC 8628 has it. */
export interface DeviceLogin {
  readonly id: string;
  readonly user_code: string;
  readonly client_name: string;
  /** What an approval gives to the device. */
  readonly kind: "token" | "session";
  /** Where the device asked from. */
  readonly source_address: string | null;
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

/** What one address may leave waiting for a decision; more would be codes to fish with. */
export const MOST_PENDING = 10;

export const tooManyPending = (retryAfterSeconds: number) =>
  new Fault(
    "rate_limited",
    `${MOST_PENDING} device logins from this address wait for a decision already. Decide one of them, or wait until one expires.`,
    { retryAfterSeconds },
  );

/** A code is short: whoever tries many that are not there is guessing at somebody else's. */
export const tooManyGuesses = (retryAfterSeconds: number) =>
  new Fault("rate_limited", "Too many codes were tried that are not there. Wait, then check the code.", {
    retryAfterSeconds,
  });

/** What a device asks for. */
export interface Wanted {
  readonly clientName: string;
  readonly scopes: readonly Scope[];
  readonly sourceAddress: string;
}

export function deviceLogin(id: string, userCode: string, wanted: Wanted, now: Date): DeviceLogin {
  const { clientName, scopes, sourceAddress } = wanted;
  return {
    id,
    user_code: userCode,
    client_name: clientName,
    kind: "token",
    source_address: sourceAddress,
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
export function newUserCode(draw: (size: number) => Uint8Array): string {
  const letters: string[] = [];
  const fair = 256 - (256 % ALPHABET.length);
  while (letters.length < CODE_LENGTH) {
    for (const byte of draw(CODE_LENGTH)) {
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

/** For the person who is to decide: who asks for what, from where and since when. */
export function wirePendingDevice(login: DeviceLogin, now: Date) {
  return {
    user_code: login.user_code,
    client_name: login.client_name,
    kind: login.kind,
    scopes: login.scopes,
    source_address: login.source_address,
    created_at: login.created_at.toISOString(),
    expires_in: secondsUntil(login.expires_at.getTime(), now),
  };
}

/** Rounded up, so that nobody comes back too soon. */
export const secondsUntil = (untilMs: number, now: Date) => Math.max(1, Math.ceil((untilMs - now.getTime()) / 1000));

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
