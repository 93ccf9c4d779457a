import type { Frame } from "./client.ts";

/** A stream that is being read. */
export interface Following {
  readonly status: number;
  readonly headers: Headers;
  /** The next event, comments passed over; null when the stream has ended. */
  next(): Promise<Frame | null>;
  nextComment(): Promise<Frame | null>;
  /** The first event that is wanted; a stream that ends before it has failed its reader. */
  until(isWanted: (frame: Frame) => boolean): Promise<Frame>;
  /** Everything up to the end of the stream. */
  rest(): Promise<Frame[]>;
  leave(): void;
}

export async function follow(url: string, headers: Record<string, string>): Promise<Following> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  // Takes hold of the body at once: fetch cancels one that nobody reads when the response is collected as garbage.
  const frames = response.body ? framesOf(response.body.values()) : null;

  async function next(isWanted: (frame: Frame) => boolean): Promise<Frame | null> {
    for (;;) {
      const step = await frames?.next();
      if (!step || step.done) return null;
      if (isWanted(step.value)) return step.value;
    }
  }
  const isEvent = ({ comment }: Frame) => comment === undefined;
  return {
    status: response.status,
    headers: response.headers,
    next: () => next(isEvent),
    nextComment: () => next((frame) => !isEvent(frame)),
    async until(isWanted) {
      const frame = await next((given) => isEvent(given) && isWanted(given));
      if (frame === null) throw new Error("The stream ended before what was waited for came.");
      return frame;
    },
    async rest() {
      const all: Frame[] = [];
      for (let frame = await next(isEvent); frame !== null; frame = await next(isEvent)) all.push(frame);
      return all;
    },
    leave: () => leaving.abort(),
  };
}

async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield parseFrame(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

/** As the standard reads a frame: a field a line, the lines of `data` put together again. */
export function parseFrame(text: string): Frame {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith(":")) return { event: "", data: null, comment: line.slice(1).trim() };
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") event = value;
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  }
  // A frame without data is not an event. One with an id says only how far the stream is.
  if (data.length === 0) return { event: "", data: null, comment: "", ...(id === undefined ? {} : { id }) };
  return { event, data: JSON.parse(data.join("\n")), ...(id === undefined ? {} : { id }) };
}
