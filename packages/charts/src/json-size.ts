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
