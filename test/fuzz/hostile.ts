import type { Random } from "./random.ts";

/** Texts that have broken something somewhere: length, encoding, direction, syntax of what lies behind, prototypes. */
const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\n",
  `${"a".repeat(64_000)}\n`,
  "${".repeat(32_000),
  "$".repeat(10_000),
  "((((((((((a+)+)+)+)+)+)+)+)+)+)!",
  "-".repeat(5_000),
  "\ud800",
  "\udc00\ud800",
  "\u202egnp.exe",
  "\u200b\u200d\ufeff",
  "Z\u0351\u036b\u0343\u036a\u0302".repeat(200),
  "👩‍👩‍👧‍👦".repeat(100),
  "__proto__",
  "constructor",
  "toString",
  "null",
  "undefined",
  "NaN",
  "-0",
  "1e999",
  "0x7fffffff",
  "9223372036854775808",
  "' or 1=1 --",
  '"; drop table users; --',
  "%00%ff%zz",
  "../../../../etc/passwd",
  "<script>alert(1)</script>",
  "$(reboot)",
  "{{7*7}}",
  "\r\nx-injected: 1",
  "http://169.254.169.254/latest/meta-data",
  "file:///etc/passwd",
  "00000000-0000-0000-0000-000000000000",
  "2026-02-30T25:61:61Z",
  "a@b",
];

const HOSTILE_SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  [],
  {},
  [null],
  [[]],
  { a: 1 },
];

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** Whole bodies that are not a request at all, as text. */
const WHOLE_BODIES: readonly (() => string)[] = [
  () => "",
  () => " ",
  () => "null",
  () => "[]",
  () => '"text"',
  () => "NaN",
  () => "{",
  () => '{"a":1',
  () => "{}{}",
  () => "\ufeff{}",
  () => '{"a":1,"a":2,"__proto__":{"admin":true}}',
  () => '{"constructor":{"prototype":{"admin":true}}}',
  () => nested(63, "[", "]"),
  () => nested(65, "[", "]"),
  () => nested(20_000, "[", "]"),
  () => nested(5_000, '{"a":', "}").replace("}", "1}"),
  () => `[${"1,".repeat(200_000)}1]`,
  () => `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":${index}`).join(",")}}`,
  () => `{"name":"${"a".repeat(500_000)}"}`,
  () => `{"name":"\\ud800"}`,
  () => `{"a":1e400,"b":-1e400}`,
  () => "x".repeat(1_200_000),
];

/** Large ones are rarer: they cost the time of a hundred others. */
export function hostileBody(random: Random): string {
  const body = random.pick(WHOLE_BODIES)();
  return body.length < 50_000 || random.chance(0.2) ? body : random.pick(WHOLE_BODIES.slice(0, 14))();
}

export function hostileText(random: Random): string {
  const text = random.pick(HOSTILE_TEXTS);
  return text.length < 1_000 || random.chance(0.3) ? text : text.slice(0, 300);
}

function hostileValue(random: Random, depth = 0): unknown {
  if (random.chance(0.5)) return hostileText(random);
  if (depth < 3 && random.chance(0.15)) return { [hostileText(random)]: hostileValue(random, depth + 1) };
  if (depth < 3 && random.chance(0.1)) return Array.from({ length: random.below(200) }, () => hostileValue(random, 3));
  return random.pick(HOSTILE_SCALARS);
}

/** The same value with one thing changed somewhere in it. */
export function mutated(value: unknown, random: Random): unknown {
  const inner = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (inner.length > 0 && random.chance(0.75)) {
    const key = random.pick(inner);
    const held = (value as Record<string, unknown>)[key];
    const change = random.chance(0.5) ? mutated(held, random) : undefined;
    if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? (change ?? null) : item));
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    return change === undefined ? rest : { ...rest, [key]: change };
  }
  if (Array.isArray(value)) {
    return random.chance(0.5) ? [...value, ...value] : [...value, hostileValue(random)];
  }
  if (typeof value === "object" && value !== null && random.chance(0.6)) {
    return { ...value, [hostileText(random).slice(0, 100)]: hostileValue(random) };
  }
  if (typeof value === "string" && random.chance(0.4)) return bent(value, random);
  if (typeof value === "number" && random.chance(0.5)) return random.pick([-value, value * 1e6, value + 0.5, -1, 0]);
  return hostileValue(random);
}

function bent(text: string, random: Random): string {
  return random.pick([
    `${text}\n`,
    ` ${text}`,
    text.toUpperCase(),
    text.repeat(50),
    `${text}\u202e`,
    `${text}${hostileText(random)}`,
    text.slice(1),
    `${text}\0`,
  ]);
}
