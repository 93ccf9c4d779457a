/** A column of sealed strings, and how a row's place is written. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL that gives the `row` part of the place. */
  readonly row: string;
}

/** Every place where the vault's strings are kept. A column that is missing here is lost when a key is retired. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "idempotency_keys", column: "sealed_answer", row: "user_id || ':' || key" },
];
