/** How much there is in a text that a stranger wrote, found in one pass before anything parses it. */

const DEEPEST_NESTING = 64;

export const isDeeperThan = (json: string, limit: number): boolean => jsonSize(json, limit).depth > limit;

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [
  0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d,
];

/**
 * How deep the text nests and how many values it holds, if it is JSON. Found in one pass before parsing, because
 * everything after it recurses, and each value costs memory. An empty list counts as if it held one value. It stops
 * where the text is deeper than `deepest`.
 */
export function jsonSize(json: string, deepest: number): { depth: number; values: number } {
  let depth = 0;
  let deepestSeen = 0;
  let values = 1;
  for (let index = 0; index < json.length; index++) {
    switch (json.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(json, index);
        break;
      case COMMA:
        values++;
        break;
      case OPEN_LIST:
      case OPEN_MAP:
        values++;
        if (++depth > deepestSeen) deepestSeen = depth;
        if (depth > deepest) return { depth, values };
        break;
      case CLOSE_LIST:
      case CLOSE_MAP:
        depth--;
    }
  }
  return { depth: deepestSeen, values };
}

/** The index of the quote that ends the string, or of the end of the text. */
function endOfString(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length && json.charCodeAt(index) !== QUOTE) index += json.charCodeAt(index) === BACKSLASH ? 2 : 1;
  return index;
}

/**
 * How many characters there are that may begin or end a node: no text has many more nodes than these. Found before
 * parsing, because a node costs the parser a thousand times its text.
 */
export function marksIn(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at++) if (MARKS.has(text.charCodeAt(at))) marks++;
  return marks;
}

const MARKS = new Set(Array.from("\n,:-?[]{}&*!'\"|>", (mark) => mark.charCodeAt(0)));

/**
 * Whether it may nest too deeply to be parsed, which recurses: by brackets or by dashes and question marks in a row, with
 * whatever may stand between them. Deep nesting by indentation takes a text of its square, and more than there may be.
 */
export function isSteep(text: string): boolean {
  const brackets = text.match(/[[{]/g)?.length ?? 0;
  if (brackets > DEEPEST_NESTING && isDeeperThan(text.replace(/["\\]/g, " "), DEEPEST_NESTING)) return true;
  return /([-?:][ \t]+){64}/.test(text);
}
