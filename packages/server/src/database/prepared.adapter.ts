import { Socket } from "node:net";
import { CompiledQuery, type QueryResult } from "kysely";
import pg from "pg";
import { inTransaction, type Queries } from "./transaction.ts";

/** A statement of our own code, with parameters for all values: a connection keeps as many plans as there are texts. */
export interface Bound {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The names of the statements that a connection parses and plans once, by their texts. */
const names = new Map<string, string>();

/**
 * Runs statements one after another in one round trip: each is sent without waiting for the answer to the one before it. Each
 * connection keeps their plans, and Kysely does not compile them again. Where one fails, the transaction has failed, and with it
 * those behind it.
 */
export function runTogether(tx: Queries, statements: readonly Bound[]): Promise<QueryResult<unknown>[]> {
  return tx
    .getExecutor()
    .provideConnection((connection) =>
      Promise.all(statements.map((statement) => connection.executeQuery(prepared(statement)))),
    );
}

function prepared({ text, values }: Bound): CompiledQuery<never> {
  if (!names.has(text)) names.set(text, `prepared ${names.size}`);
  return CompiledQuery.raw(text, [...values]) as CompiledQuery<never>;
}

/** One more than a page has by default. So few rows are read in one step, without a cursor. */
export const ROWS_AT_ONCE = 11;
/** How many rows are read at once: they are parsed in one turn of the event loop, in which everybody else waits. */
interface Steps {
  /** As many as show how long rows are. */
  readonly first: number;
  readonly largest: number;
}
const LONG_ROWS: Steps = { first: 3, largest: 15 };
/** For rows of which a tenant can make none long. */
export const SHORT_ROWS: Steps = { first: 250, largest: 250 };
/** A step has fewer rows where those before them are long. */
const STEP_CHARACTERS = 256 * 1024;

/**
 * Runs a query of which a page may be too long for an answer: it ends once the rows have `enough` characters together. PostgreSQL
 * reads and sends a long value only with its row, so rows that are not fetched cost it and us nothing.
 */
export function readBounded<R>(
  db: Queries,
  { sql, parameters }: Pick<CompiledQuery<R>, "sql" | "parameters">,
  enough: number,
  { first, largest } = LONG_ROWS,
): Promise<R[]> {
  return inTransaction(db, async (tx) => {
    const declare = { text: `declare page no scroll cursor for ${sql}`, values: parameters };
    const [, begun] = await runTogether(tx, [declare, { text: `fetch ${first} from page`, values: [] }]);
    const rows = [...(begun?.rows ?? [])] as R[];
    let characters = charactersOf(rows);
    for (let asked = first; rows.length === asked && characters < enough; ) {
      const room = Math.min(enough - characters, STEP_CHARACTERS);
      const step = Math.min(largest, Math.ceil((room * rows.length) / characters));
      const { rows: more } = await tx.executeQuery<R>(CompiledQuery.raw(`fetch ${step} from page`));
      rows.push(...more);
      characters += charactersOf(more);
      asked += step;
    }
    return rows;
  });
}

/** About as many as its JSON has, without making it: the text of a long page would take as much memory as the page. */
function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let characters = 1;
  for (const [name, held] of Object.entries(value)) characters += name.length + charactersOf(held);
  return characters;
}

const BEGUN: pg.QueryResult = { command: "BEGIN", rowCount: null, oid: 0, fields: [], rows: [] };

type Query = (statement: unknown, ...rest: unknown[]) => Promise<pg.QueryResult>;

/**
 * A connection that sends statements without waiting for answers, and all of one turn of the event loop with one write: each
 * write wakes a session of PostgreSQL, which takes longer than anything else about a small statement. Kysely gives it the text of
 * a statement and its values; it adds the name, where there is one.
 */
export class PipelinedClient extends pg.Client {
  readonly socket: Socket;
  /** How many statements wait for their answers, and since when any does. */
  unanswered = 0;
  waitsSinceMs = 0;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, pipeline: true, stream: () => socket });
    this.socket = socket;
    this.connection.on("readyForQuery", () => {
      this.unanswered = Math.max(0, this.unanswered - 1);
    });
  }

  override query: Query = (statement, ...rest) => {
    this.socket.cork();
    process.nextTick(() => this.socket.uncork());
    const name = typeof statement === "string" ? names.get(statement) : undefined;
    const [values, ...others] = rest;
    const given = name ? [{ name, text: statement, values }, ...others] : [statement, ...rest];
    if (this.unanswered++ === 0) this.waitsSinceMs = performance.now();
    // There is none where a callback is given.
    const answer: Promise<pg.QueryResult> | undefined = Reflect.apply(super.query, this, given);
    if (statement !== "begin" || !answer) return answer as Promise<pg.QueryResult>;
    // The first statement of a transaction does not wait for it. Outside of one it must not run: the connection ends instead.
    answer.catch((error: Error) => this.socket.destroy(error));
    return Promise.resolve(BEGUN);
  };
}
