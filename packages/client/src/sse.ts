/** A frame of a stream of server-sent events. */
export interface Frame {
  readonly event: string;
  readonly data: string;
  /** Where a stream that is opened again should go on; null unless the server gives one. */
  readonly id: string | null;
}

/** More than any event or log line has; a server that never ends a frame must not fill the memory. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Reads frames out of a text that comes in pieces, as the HTML standard says. */
export class FrameReader {
  #rest = "";
  #isAfterReturn = false;
  #isFirst = true;
  #event = "";
  #data: string[] = [];
  #size = 0;
  #id: string | null = null;
  #lastEventId: string | null = null;

  /** The id of the last frame that has ended, also of one without data. */
  get lastEventId(): string | null {
    return this.#lastEventId;
  }

  push(piece: string): Frame[] {
    const frames: Frame[] = [];
    let text = piece;
    if (text === "") return frames;
    if (this.#isFirst && text.startsWith("\uFEFF")) text = text.slice(1);
    this.#isFirst = false;
    // The two characters of one line break may come in two pieces.
    if (this.#isAfterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#isAfterReturn = piece.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const frame = this.#line(line);
      if (frame) frames.push(frame);
    }
    if (this.#size + this.#rest.length > MOST_CHARACTERS) throw new RangeError("A frame of the stream is too long.");
    return frames;
  }

  #line(line: string): Frame | null {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    if (name === "id" && !value.includes("\0")) this.#id = value;
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    }
    return null;
  }

  #end(): Frame | null {
    const frame = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#lastEventId = this.#id;
    this.#event = "";
    this.#data = [];
    this.#size = 0;
    return isEmpty ? null : frame;
  }
}
