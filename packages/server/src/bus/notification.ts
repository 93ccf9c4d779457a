/**
 * Messages as the payloads of notifications. PostgreSQL takes payloads of less than 8,000 bytes, so that small messages share
 * one and a large one is divided. The first line of a payload names the process that has sent it, and the part that it is.
 */

/** PostgreSQL refuses 8,000 bytes; the rest is for the first line. */
const ROOM_BYTES = 7_900;
/** A character of UTF-16 takes three bytes at most. */
const PIECE_CHARACTERS = Math.floor(ROOM_BYTES / 3);

export interface Line {
  readonly topic: string;
  readonly text: string;
}

/** JSON has no line breaks of its own, and a topic no blanks. */
export const lineOf = ({ topic, text }: Line): string => `${topic} ${text}`;

/** Returns the payloads in the order in which they have to be sent, in one transaction. */
export function payloadsOf(sender: string, lines: Iterable<string>): string[] {
  const payloads: string[] = [];
  let gathered = [sender];
  let bytes = 0;
  const end = () => {
    if (gathered.length > 1) payloads.push(gathered.join("\n"));
    gathered = [sender];
    bytes = 0;
  };
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > ROOM_BYTES) end();
    if (size > ROOM_BYTES) {
      const pieces = piecesOf(line);
      // PostgreSQL leaves out a payload that a transaction has sent already, so equal pieces of two messages differ in this number.
      const message = payloads.length;
      payloads.push(...pieces.map((piece, index) => `${sender} ${index + 1}/${pieces.length}/${message}\n${piece}`));
    } else {
      gathered.push(line);
      bytes += size;
    }
  }
  end();
  return payloads;
}

function piecesOf(line: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < line.length; ) {
    const end = start + PIECE_CHARACTERS;
    // A pair of surrogates is one character of UTF-8, which cannot be divided.
    const isInPair = /[\ud800-\udbff]/.test(line.charAt(end - 1));
    const piece = line.slice(start, isInPair ? end - 1 : end);
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}

/**
 * Puts divided messages together. The payloads of one transaction arrive one after the other, so there is never more than one
 * message of which a part is missing.
 */
export class PayloadReader {
  #begun: { readonly sender: string; readonly pieces: string[] } | null = null;

  /** Returns who has sent the payload, and the messages that are complete with it. */
  read(payload: string): { readonly sender: string; readonly lines: readonly Line[] } {
    const [head = "", ...texts] = payload.split("\n");
    const [sender = "", part] = head.split(" ");
    const whole = part === undefined ? texts : this.#joined(sender, part, texts.join("\n"));
    return { sender, lines: whole.map(parseLine) };
  }

  #joined(sender: string, part: string, piece: string): string[] {
    const [number, count] = part.split("/").map(Number);
    if (number === 1) this.#begun = { sender, pieces: [] };
    if (this.#begun?.sender !== sender || this.#begun.pieces.length + 1 !== number) {
      this.#begun = null;
      return [];
    }
    this.#begun.pieces.push(piece);
    if (number !== count) return [];
    const line = this.#begun.pieces.join("");
    this.#begun = null;
    return [line];
  }
}

function parseLine(line: string): Line {
  const end = line.indexOf(" ");
  return end === -1 ? { topic: line, text: "" } : { topic: line.slice(0, end), text: line.slice(end + 1) };
}
