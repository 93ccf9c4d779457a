import type { ColumnType } from "kysely";

/** Written as text, because `pg` takes a JavaScript array for a PostgreSQL array; read as the value. */
export type Json<T> = ColumnType<T, string, string>;

/** A column that has a default and is read as its value. */
export type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;

export interface Timestamps {
  created_at: Date;
  updated_at: Date;
}
