/** Words and numbers that a reader of YAML takes for something else than a text. */
const OTHERWISE_READ = /^(true|false|null|yes|no|on|off|y|n|~|[-+.]?(\d|inf|nan).*)$/i;
/** Texts of letters, digits and a few marks that nothing else begins with. */
const PLAIN = /^[A-Za-z0-9_/][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*( [A-Za-z0-9_./@+-]+)*$/;
/** Lines that can stand as they are: nothing that a terminal or a reader of YAML would change. */
const LITERAL = /^(?![ \n\t])(?:[\n\t]|[^\p{Cc}\u2028\u2029\ufeff])*$/u;

/**
 * Writes JSON as YAML: in blocks, with sorted keys, and without anchors and wrapped lines, so that equal content is an equal text. It takes
 * time in proportion to the text; the library that reads YAML took half a second for a large app, in which nobody else is served.
 */
export const yamlText = (value: unknown): string => `${block(value, "").trimStart()}\n`;

/** What stands behind a key or a dash. */
function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((item) => `\n${indent}-${itemBlock(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const lines = fieldsOf(value, indent);
    return lines.length === 0 ? " {}" : lines.map((line) => `\n${indent}${line}`).join("");
  }
  return ` ${scalar(value, indent)}`;
}

/** The first field of an object stands beside the dash. */
function itemBlock(item: unknown, indent: string): string {
  const isMap = typeof item === "object" && item !== null && !Array.isArray(item);
  const lines = isMap ? fieldsOf(item, indent) : [];
  return lines.length > 0 ? ` ${lines.join(`\n${indent}`)}` : block(item, indent);
}

const fieldsOf = (value: object, indent: string): string[] =>
  Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => `${text(name)}:${block(field, `${indent}  `)}`);

function scalar(value: unknown, indent: string): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return literal(value, indent) ?? text(value);
}

const text = (value: string): string =>
  PLAIN.test(value) && !OTHERWISE_READ.test(value)
    ? value
    : JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text of several lines, with at most one line break at its end; null where it has to be quoted. */
function literal(value: string, indent: string): string | null {
  if (!value.includes("\n") || value.endsWith("\n\n") || !value.isWellFormed() || !LITERAL.test(value)) return null;
  const lines = value.replace(/\n$/, "").split("\n");
  const body = lines.map((line) => (line === "" ? "" : `${indent}${line}`)).join("\n");
  return `${value.endsWith("\n") ? "|" : "|-"}\n${body}`;
}
