/** The encoding that SSH uses for keys and signatures (RFC 4251): every string has its length before it. */
export function wireString(content: Buffer | string): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

export function wireNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export class WireProblem extends Error {
  override readonly name = "WireProblem";
}

export interface WireReader {
  readonly string: () => Buffer;
  readonly text: () => string;
  readonly number: () => number;
  readonly bytes: (length: number) => Buffer;
  /** Throws where something is left. */
  readonly end: () => void;
}

/** Throws WireProblem where the content ends too early. */
export function wireReader(content: Buffer): WireReader {
  let at = 0;
  const bytes = (length: number) => {
    if (at + length > content.length) throw new WireProblem("It ends too early.");
    at += length;
    return content.subarray(at - length, at);
  };
  const number = () => bytes(4).readUInt32BE();
  const string = () => bytes(number());
  return {
    bytes,
    number,
    string,
    text: () => string().toString("latin1"),
    end() {
      if (at !== content.length) throw new WireProblem("Something is left at its end.");
    },
  };
}

/** Base64 between two lines with a label, as PEM has it. */
export function armored(label: string, content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,70}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

/** Null where the text has another form. */
export function unarmored(label: string, text: string): Buffer | null {
  const lines = text.trim().split(/\r?\n/);
  if (lines[0] !== `-----BEGIN ${label}-----` || lines.at(-1) !== `-----END ${label}-----`) return null;
  const base64 = lines.slice(1, -1).join("");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : null;
}
