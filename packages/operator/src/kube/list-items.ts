const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Parses the items of a list one by one as its bytes arrive. API servers ignore the limit of a page in lists that they answer
 * from memory, and such a list as a whole may be larger than our memory. Returns what is around the items; fails where the text
 * is not JSON.
 */
export async function readItems(chunks: AsyncIterable<Uint8Array>, take: (item: unknown) => void): Promise<unknown> {
  const reader = itemReader(take);
  for await (const chunk of chunks) reader.push(chunk);
  return reader.around();
}

function itemReader(take: (item: unknown) => void) {
  const around: Uint8Array[] = [];
  let item: Uint8Array[] = [];
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  /** Within the only array that is directly in the outermost object. */
  let isAmongItems = false;

  /** Returns where the bytes after this bracket begin that are to be kept; null for those between two items. */
  function open(chunk: Uint8Array, start: number | null, at: number): number | null {
    depth += 1;
    if (isAmongItems && depth === 3) return at;
    if (depth !== 2 || chunk[at] !== OPEN_ARRAY) return start;
    around.push(chunk.subarray(start ?? at, at + 1));
    isAmongItems = true;
    return null;
  }

  function close(chunk: Uint8Array, start: number | null, at: number): number | null {
    depth -= 1;
    if (!isAmongItems || depth > 2) return start;
    if (depth === 1) {
      isAmongItems = false;
      return at;
    }
    item.push(chunk.subarray(start ?? at, at + 1));
    take(parsed(item));
    item = [];
    return null;
  }

  return {
    push(chunk: Uint8Array): void {
      let start = isAmongItems && depth === 2 ? null : 0;
      // A copy, because every byte of a large list comes by here.
      let [inText, escaped] = [isText, isEscaped];
      const { length } = chunk;
      for (let at = 0; at < length; at += 1) {
        const byte = chunk[at];
        if (inText) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inText = false;
        } else if (byte === QUOTE) inText = true;
        else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) start = open(chunk, start, at);
        else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) start = close(chunk, start, at);
      }
      isText = inText;
      isEscaped = escaped;
      if (start !== null) (isAmongItems ? item : around).push(chunk.subarray(start));
    },
    around: (): unknown => parsed(around),
  };
}

const parsed = (pieces: readonly Uint8Array[]): unknown => JSON.parse(Buffer.concat(pieces).toString("utf8"));
