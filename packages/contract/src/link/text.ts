import Type from "typebox";
import { maskSecrets } from "../secret-text.ts";

/** Free text that comes from a cluster and is shown to people. */
export const LONGEST_MESSAGE = 1_024;

/**
 * Markup, a JWT, a CLI token, a cloud key, a private key or an address with a password: none has a place in a message for people. The hub
 * ends the connection of an operator that sends one, so this list stays as the oldest operator knows it. Operators mask more than this.
 */
const UNSAFE = [
  /<[a-z!/?]/i,
  /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/,
  /\bbnc_[\w-]{20,}/,
  /\b(AKIA|ASIA)[0-9A-Z]{16}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
];

/** Masks take time by the square of a long word: a megabyte of one would hold up everything else for minutes. */
const LONGEST_READ = 2 * LONGEST_MESSAGE;

/** Control characters, other than the end of a line and the tab. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

export const isSafeText = (text: string): boolean => !UNSAFE.some((pattern) => pattern.test(text));

/** What may be shown of a text from an unknown source; an operator passes every message through it. */
export function safeText(text: string): string {
  const printable = text.slice(0, LONGEST_READ).replace(UNPRINTABLE, " ").trim();
  const masked = UNSAFE.slice(1).reduce(
    (rest, pattern) => rest.replace(new RegExp(pattern.source, `g${pattern.flags}`), "[masked]"),
    printable,
  );
  const plain = maskSecrets(masked).replace(/<(?=[a-z!/?])/gi, "‹");
  return plain.length > LONGEST_MESSAGE ? `${plain.slice(0, LONGEST_MESSAGE - 1)}…` : plain;
}

export const Message = Type.String({ maxLength: LONGEST_MESSAGE });
export const ReportedReason = Type.String({
  maxLength: 100,
  pattern: "^[A-Za-z][A-Za-z0-9]*$",
  examples: ["RolloutComplete"],
});
