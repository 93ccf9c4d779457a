/**
 * Characters that have no form of their own and can hide or reorder text: controls but tab and line feed, zero-width and
 * bidirectional marks, tags, and separators of lines that nobody expects. The two that choose how an emoji looks are left alone.
 */
export const INVISIBLE = /(?!\t|\n|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** How such a character is written out, such as `\u{202E}`. */
export const escapeOf = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}}`;

/** A text that people read or review before they decide: what it hides is written out. */
export const visibleText = (text: string): string => text.replace(INVISIBLE, escapeOf);
