import { setImmediate } from "node:timers/promises";
import { type Envelope, envelope, MOST_ANSWER_BYTES, type Page } from "./pagination.ts";

/** So many characters are written in one turn of the event loop, in which everybody else waits. */
const WRITTEN_AT_ONCE = 256 * 1024;
/** The text of the numbers around the rows grows by less when the page ends early and has a cursor. */
const ROOM_FOR_CURSOR = 32;

interface Shape<Row> {
  /** Of the answer: a list has some of those of an envelope. */
  readonly fields: readonly string[];
  readonly textOf: (row: Row) => string;
}

/** Writes the answer of a list, row by row. The page ends early where it would be too large, after one row at least. */
export async function pageAnswer<Row>(
  answer: Envelope<Row>,
  page: Page,
  { fields, textOf }: Shape<Row>,
  mostBytes = MOST_ANSWER_BYTES,
): Promise<Buffer> {
  const written: Buffer[] = [];
  let room = mostBytes - around(answer, fields).length - ROOM_FOR_CURSOR;
  let kept = 0;
  let text = '{"data":[';
  for (const row of answer.data) {
    const item = textOf(row);
    room -= Buffer.byteLength(item) + 1;
    if (room < 0 && kept > 0) break;
    text += kept === 0 ? item : `,${item}`;
    kept += 1;
    if (text.length < WRITTEN_AT_ONCE) continue;
    written.push(Buffer.from(text));
    text = "";
    await setImmediate();
  }
  const isWhole = kept === answer.data.length;
  const cut = answer.cut ?? (() => envelope(answer.data.slice(0, kept), answer.total_count, page));
  const shown = isWhole ? answer : { ...answer, ...cut(kept) };
  written.push(Buffer.from(`${text}]${around(shown, fields)}`));
  return Buffer.concat(written);
}

/** All but the rows: numbers and a cursor. */
function around(answer: Envelope<unknown>, fields: readonly string[]): string {
  const shown = fields.flatMap((field) => (field === "data" ? [] : [[field, answer[field as keyof typeof answer]]]));
  return `,${JSON.stringify(Object.fromEntries(shown)).slice(1)}`;
}
