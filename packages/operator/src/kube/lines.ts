/**
 * Cuts bytes into lines. A line longer than `maxLength` comes in pieces, so that nobody fills our memory by never
 * ending one. What stands after the last line break comes last.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxLength = Number.POSITIVE_INFINITY) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const pieces = decoder.decode(chunk, { stream: true }).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      yield* cut(rest + piece, maxLength);
      rest = "";
    }
    rest += last;
    while (rest.length > maxLength) {
      yield rest.slice(0, maxLength);
      rest = rest.slice(maxLength);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield* cut(rest, maxLength);
}

function* cut(line: string, maxLength: number) {
  if (line === "") yield line;
  for (let at = 0; at < line.length; at += maxLength) yield line.slice(at, at + maxLength);
}
