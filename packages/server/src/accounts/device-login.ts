import type { DeviceError, DeviceKind, Scope } from "@binnacle/contract";
import { Fault } from "../fault.ts";

/** A device that waits for a person to approve it, as RFC 8628 has it. */
export interface DeviceLogin {
  readonly id: string;
  readonly user_code: string;
  readonly client_name: string;
  /** An approval creates either a CLI token or a session. */
  readonly kind: DeviceKind;
  /** The address of the device. */
  readonly source_address: string | null;
  /** Empty for a session, which has no limits. */
  readonly scopes: Scope[];
  /** The place that a token would be bound to. It may not exist: whoever begins a login has no credential. */
  readonly org_id: string | null;
  readonly project_id: string | null;
  readonly status: "pending" | "approved" | "denied" | "claimed";
  readonly user_id: string | null;
  readonly interval_seconds: number;
  readonly last_asked_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export const LIFETIME_SECONDS = 600;
export const FIRST_INTERVAL_SECONDS = 5;

/** The most undecided logins of one address, which may be that of a whole office. More would make it easier to guess a code. */
const MOST_PENDING = 50;

/** A program that has missed so many of its polls has ended, as far as its place is needed for another. */
const MISSED_POLLS = 3;

/** Returns when nobody waits for the login any more: its program should have polled by then, also for the first time. */
const waitsUntilMs = ({ last_asked_at, created_at, interval_seconds, expires_at }: Waiting): number =>
  Math.min((last_asked_at ?? created_at).getTime() + MISSED_POLLS * interval_seconds * 1000, expires_at.getTime());

type Waiting = Pick<DeviceLogin, "id" | "last_asked_at" | "created_at" | "interval_seconds" | "expires_at">;

/**
 * Returns the undecided login of an address that gives its place to a new one, or null where there is room. A login that somebody waits
 * for is never ended: otherwise anyone behind the same address could end those of others. Throws the 429 where all are waited for.
 */
export function displacedBy(waiting: readonly Waiting[], now: Date): Waiting | null {
  const [first] = waiting.toSorted((a, b) => waitsUntilMs(a) - waitsUntilMs(b));
  if (!first || waiting.length < MOST_PENDING) return null;
  const untilMs = waitsUntilMs(first);
  if (untilMs <= now.getTime()) return first;
  throw new Fault(
    "rate_limited",
    "Too many logins of this address wait for a decision. Finish one, or try again later.",
    {
      retryAfterSeconds: secondsUntil(untilMs, now),
    },
  );
}

/** Codes are short, so many unknown ones mean that someone is guessing. */
export const tooManyGuesses = (retryAfterSeconds: number) =>
  new Fault("rate_limited", "Too many codes were tried that are not there. Wait, then check the code.", {
    retryAfterSeconds,
  });

/** The login that a device requests. */
export interface LoginRequest {
  readonly clientName: string;
  readonly kind: DeviceKind;
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly projectId: string | null;
  readonly sourceAddress: string;
}

export function deviceLogin(id: string, userCode: string, wanted: LoginRequest, now: Date): DeviceLogin {
  const { clientName, kind, scopes, orgId, projectId, sourceAddress } = wanted;
  return {
    id,
    user_code: userCode,
    client_name: clientName,
    kind,
    source_address: sourceAddress,
    scopes: kind === "session" ? [] : [...new Set(scopes)],
    org_id: orgId,
    project_id: projectId,
    status: "pending",
    user_id: null,
    interval_seconds: FIRST_INTERVAL_SECONDS,
    last_asked_at: null,
    created_at: now,
    expires_at: new Date(now.getTime() + LIFETIME_SECONDS * 1000),
  };
}

/** Only consonants: no code spells a word, and no letter looks like a digit. */
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

/**
 * Shows the person who decides which program requests what, from where and since when. `placeName` is the name of the place
 * that the token would be bound to, if that person sees it.
 */
export function wirePendingDevice(login: DeviceLogin, placeName: string | null, now: Date) {
  return {
    user_code: login.user_code,
    client_name: login.client_name,
    kind: login.kind,
    scopes: login.scopes,
    org_id: login.org_id,
    org_name: login.org_id === null ? null : placeName,
    project_id: login.project_id,
    project_name: login.project_id === null ? null : placeName,
    source_address: login.source_address,
    created_at: login.created_at.toISOString(),
    age_seconds: Math.max(0, Math.floor((now.getTime() - login.created_at.getTime()) / 1000)),
    expires_in: secondsUntil(login.expires_at.getTime(), now),
  };
}

/** The seconds are rounded up, so that a client does not retry too early. */
export const secondsUntil = (untilMs: number, now: Date) => Math.max(1, Math.ceil((untilMs - now.getTime()) / 1000));

/** Returns whether the login can still be approved or denied. */
export const isUndecided = (login: DeviceLogin, now: Date) => login.status === "pending" && login.expires_at > now;

export type Asked =
  | { readonly outcome: "approved"; readonly userId: string; readonly next: DeviceLogin }
  | { readonly outcome: DeviceError; readonly next: DeviceLogin };

/** Decides the answer to a device that polls. A device that polls too fast must wait longer from then on. */
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
    return { outcome: "approved", userId: login.user_id, next: { ...next, status: "claimed" } };
  }
  return { outcome: "authorization_pending", next };
}
