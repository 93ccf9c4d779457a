import pg from "pg";

/** A query as the driver calls it. The types of the driver leave this out. */
interface DriverQuery {
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handlePortalSuspended(connection: Wire): void;
  handleError(error: Error, connection: Wire): void;
}

interface Wire {
  close(part: { readonly type: "P" }): void;
  sync(): void;
}

interface Config {
  readonly text: string;
  readonly name?: string | undefined;
  readonly values: unknown[];
}

/** One more than a page has by default, so that such a page is read in one step. */
export const ROWS_AT_ONCE = 11;

const Query = pg.Query as unknown as new (config: Config & { readonly rows: number }) => DriverQuery;

/**
 * Reads rows until they have `enough` characters together. PostgreSQL reads and sends a long value only with its row, so rows
 * that are not requested cost it and us nothing. Such a query has its connection for itself.
 */
export class BoundedQuery extends Query {
  readonly #enough: number;
  #received = 0;

  constructor(config: Config, enough: number) {
    super({ ...config, rows: ROWS_AT_ONCE });
    this.#enough = enough;
  }

  override handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    for (const field of message.fields) this.#received += field?.length ?? 0;
    super.handleDataRow(message);
  }

  override handlePortalSuspended(connection: Wire): void {
    if (this.#received < this.#enough) {
      super.handlePortalSuspended(connection);
      return;
    }
    connection.close({ type: "P" });
    connection.sync();
  }

  /** The driver does not ask for the end of a query that is read in steps and fails. */
  override handleError(error: Error, connection: Wire): void {
    connection.sync();
    super.handleError(error, connection);
  }
}
