import pg from "pg";

/** It has a name, so that each connection parses and plans it once. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A value as PostgreSQL takes it over the wire. */
export type Value = string | Buffer;

type Done = (error: Error | null | undefined, rows: object[]) => void;

type ReadRow = (fields: readonly (string | null)[]) => object;

/** A connection as the driver gives it to a query. The types of the driver are incomplete and partly wrong. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** What the database has parsed, and what it was sent to parse, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: Statement): void;
  bind(config: { statement: string; values: readonly Value[] }): void;
  describe(part: { type: "P" }): void;
  execute(config: object): void;
  sync(): void;
}

interface TypeParsers {
  getTypeParser(oid: number, format: "text"): (text: string) => unknown;
}

/** Runs the statement on a connection, or on one of a pool. */
type Run = <R extends object>(
  runner: pg.Client | pg.Pool,
  statement: Statement,
  values: readonly Value[],
) => Promise<R[]>;

/**
 * Reads the rows of a prepared statement. The columns of a statement are requested once for each connection: the driver
 * requests them at every use, and reading them takes longer than reading a row.
 */
export function preparedQueries(types: TypeParsers): Run {
  /** For each connection, by the name of the statement. Its columns stay the same for as long as it is prepared. */
  const known = new WeakMap<Wire, Map<string, ReadRow>>();
  const readersOf = (connection: Wire) => {
    const readers = known.get(connection) ?? new Map<string, ReadRow>();
    known.set(connection, readers);
    return readers;
  };

  /** The driver calls the handlers by these names. */
  class PreparedQuery {
    readonly name: string;
    readonly text: string;
    readonly #values: readonly Value[];
    #readers: Map<string, ReadRow> | null = null;
    #read: ReadRow | undefined;
    readonly #rows: object[] = [];
    #problem: Error | null = null;
    /** Set by the driver. */
    callback: Done | undefined;

    constructor({ name, text }: Statement, values: readonly Value[]) {
      this.name = name;
      this.text = text;
      this.#values = values;
    }

    submit(connection: pg.Connection): null {
      const wire = connection as unknown as Wire;
      this.#readers = readersOf(wire);
      this.#read = this.#readers.get(this.name);
      wire.stream.cork();
      if (wire.parsedStatements[this.name] === undefined && wire.submittedNamedStatements[this.name] === undefined) {
        wire.parse(this);
        wire.submittedNamedStatements[this.name] = this.text;
      }
      wire.bind({ statement: this.name, values: this.#values });
      if (!this.#read) wire.describe({ type: "P" });
      wire.execute({});
      wire.sync();
      wire.stream.uncork();
      return null;
    }

    handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
      this.#read = readerOf(fields, types);
      this.#readers?.set(this.name, this.#read);
    }

    handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
      if (this.#problem || !this.#read) return;
      try {
        this.#rows.push(this.#read(fields));
      } catch (error) {
        this.#problem = error as Error;
        this.#readers?.delete(this.name);
      }
    }

    handleCommandComplete(): void {}

    handleReadyForQuery(): void {
      this.callback?.(this.#problem, this.#rows);
    }

    handleError(error: Error): void {
      this.callback?.(error, []);
    }
  }

  // A pipeline takes queries of this class only: the driver keeps out those that hold a cursor open. This one does not.
  Object.setPrototypeOf(PreparedQuery.prototype, pg.Query.prototype);

  return <R extends object>(runner: pg.Client | pg.Pool, statement: Statement, values: readonly Value[]) =>
    new Promise<R[]>((resolve, reject) => {
      // The types of the driver lack the callback.
      (runner as unknown as { query(query: PreparedQuery, done: Done): void }).query(
        new PreparedQuery(statement, values),
        (error, rows) => (error ? reject(error) : resolve(rows as R[])),
      );
    });
}

/**
 * A pooler has prepared the statement anew on another connection, after a newer version has changed its table. Values would get
 * the names of others. PostgreSQL itself refuses such a statement with the same code.
 */
class OtherColumns extends Error {
  override readonly name = "OtherColumns";
  readonly code = "0A000";

  constructor(expected: number, found: number) {
    super(`PostgreSQL answered a prepared statement with ${found} columns in place of ${expected}.`);
  }
}

function readerOf(fields: readonly pg.FieldDef[], types: TypeParsers): ReadRow {
  const names = fields.map(({ name }) => name);
  const parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, "text"));
  // V8 shares the shape of a parsed object among its copies. An object that is built field by field gets no such shape.
  const empty = JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as object;
  return (texts) => {
    if (texts.length !== names.length) throw new OtherColumns(names.length, texts.length);
    const row: Record<string, unknown> = { ...empty };
    for (let index = 0; index < names.length; index++) {
      const text = texts[index] ?? null;
      if (text !== null) row[names[index] as string] = parsers[index]?.(text);
    }
    return row;
  };
}
