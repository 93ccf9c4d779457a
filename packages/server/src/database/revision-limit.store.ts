import type { Bound } from "./prepared.adapter.ts";

const MOST_REVISIONS = 200;
const MOST_REVISION_BYTES = 20_000_000;

/** A table with the revisions of something that users change. */
interface Revisions {
  readonly table: string;
  readonly owner: string;
  readonly number: string;
  readonly content: string;
}

/** Deletes the oldest revisions of an owner beyond the limits. The newest ten stay whatever their size. */
export function trimOf({ table, owner, number, content }: Revisions): (ownerId: string) => Bound {
  const text = `
    delete from ${table} where ${owner} = $1::uuid and ${number} < (
      select min(${number}) from (
        select ${number}, row_number() over newest as place, sum(pg_column_size(${content})) over newest as bytes
        from ${table} where ${owner} = $1::uuid window newest as (order by ${number} desc)
      ) held where place <= 10 or (place <= $2::int and bytes <= $3::int))`;
  return (ownerId) => ({ text, values: [ownerId, MOST_REVISIONS, MOST_REVISION_BYTES] });
}
