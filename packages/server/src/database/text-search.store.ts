import { type RawBuilder, type SqlBool, sql } from "kysely";

/** Characters that are wildcards in a pattern. */
const WILDCARDS = /[\\%_]/g;

/** Whether a column in lower case contains a text, in upper or lower case. An index of the column's trigrams serves it, where there is one. */
export const contains = (column: string, text: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} like lower(${`%${text.replace(WILDCARDS, "\\$&")}%`})`;
