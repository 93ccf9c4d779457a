import { expect, test } from "vitest";
import { visibleText } from "./visible-text.ts";

test.each([
  ["image: nginx\u202Egnp.exe", "image: nginx\\u{202E}gnp.exe"],
  ["a\u200Bb\u200Dc\uFEFFd\u00ADe", "a\\u{200B}b\\u{200D}c\\u{FEFF}d\\u{00AD}e"],
  ["a\u061Cb\u2066c\u2069", "a\\u{061C}b\\u{2066}c\\u{2069}"],
  ["a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"],
  ["a\u0085b\u009Bc\u0000", "a\\u{0085}b\\u{009B}c\\u{0000}"],
  ["a\u{E0041}b\u3164", "a\\u{E0041}b\\u{3164}"],
  ["first\n\tsecond", "first\n\tsecond"],
  ["größer, 日本語, עברית, ☁️", "größer, 日本語, עברית, ☁️"],
])("[WC164] the text %j is shown as %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});
