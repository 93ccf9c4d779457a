/** A column of sealed strings, and how a row's place is written. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL that gives the `row` part of the place. */
  readonly row: string;
}

/** Every place where the vault's strings are kept. A column that is missing here is lost when a key is retired. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "addon_secrets", column: "sealed_value", row: "id::text" },
  { table: "app_secrets", column: "sealed_value", row: "id::text" },
  { table: "chart_repositories", column: "sealed_password", row: "id::text" },
  { table: "cloud_credentials", column: "sealed_secret", row: "id::text" },
  { table: "clusters", column: "sealed_ssh_key", row: "id::text" },
  { table: "idempotency_keys", column: "sealed_answer", row: "user_id || ':' || key" },
  { table: "registry_secrets", column: "sealed_password", row: "id::text" },
];
