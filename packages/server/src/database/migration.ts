import type { RawBuilder } from "kysely";
import type { Migration } from "kysely/migration";
import { compareReleases, isAtLeast } from "../upgrade/release.ts";

/** The locks of tables that hold up others; reading takes none of them. */
export type TableLock =
  | "ROW EXCLUSIVE"
  | "SHARE UPDATE EXCLUSIVE"
  | "SHARE"
  | "SHARE ROW EXCLUSIVE"
  | "EXCLUSIVE"
  | "ACCESS EXCLUSIVE";

/** A migration that says what it does to servers that run meanwhile, and to those of the release before. */
export interface DeclaredMigration {
  /** The oldest release whose servers work on the database afterwards. */
  readonly oldestRelease: string;
  /** The strongest lock on each table that was there before. A test compares them with those that PostgreSQL takes. */
  readonly locks: Readonly<Record<string, TableLock>>;
  readonly steps: readonly RawBuilder<unknown>[];
  /** They are built after the migrations are committed, while servers read and write the tables. */
  readonly indexes?: readonly OnlineIndex[];
}

/** An index of a table that grows with the fleet: it only makes queries faster, and nothing depends on it. */
export interface OnlineIndex {
  readonly name: string;
  /** The table and what follows it. */
  readonly definition: RawBuilder<unknown>;
  /** Without this extension of PostgreSQL there is no such index. */
  readonly extension?: string;
}

/** Migrations up to release 0.1.0 declare nothing, because no release was before it. */
export type Migrations = Readonly<Record<string, Migration | DeclaredMigration>>;

export const isDeclared = (migration: Migration | DeclaredMigration | undefined): migration is DeclaredMigration =>
  migration !== undefined && "steps" in migration;

/** A row of the record of migrations. The releases are written by declared migrations alone. */
export interface AppliedMigration {
  readonly name: string;
  readonly timestamp?: string;
  readonly oldest_release?: string | null;
  readonly applied_by?: string | null;
}

/** The database was migrated by another release, and this one would not work on it. The message says what to do. */
export class SchemaRefused extends Error {
  override readonly name = "SchemaRefused";
}

/**
 * The migrations that a server of this release has to apply, in their order. Those of later releases stay as they are where
 * they allow this release; the schema is never taken back.
 */
export function pendingMigrations(known: Migrations, applied: readonly AppliedMigration[], release: string): string[] {
  for (const migration of unknownMigrations(known, applied)) {
    const { oldest_release: oldest } = migration;
    if (!oldest || !isAtLeast(release, oldest)) throw tooNew(migration, release);
  }
  const names = new Set(applied.map(({ name }) => name));
  const pending = Object.keys(known)
    .filter((name) => !names.has(name))
    .sort();
  const skipped = pending.find((name) => applied.some((later) => later.name > name));
  if (skipped) throw diverged(skipped, release);
  return pending;
}

export const unknownMigrations = (
  known: Migrations,
  applied: readonly AppliedMigration[],
): readonly AppliedMigration[] => applied.filter(({ name }) => !Object.hasOwn(known, name));

/** The oldest release that works on a database with these migrations; null where one of them does not say. */
export function oldestReleaseOf(declared: readonly (string | null | undefined)[]): string | null {
  if (!declared.every((release) => typeof release === "string")) return null;
  return declared.toSorted((one, other) => compareReleases(one, other) ?? 0).at(-1) ?? null;
}

const RESTORE = "or restore the backup that was taken before the upgrade into an empty database";

function tooNew({ name, oldest_release, applied_by }: AppliedMigration, release: string): SchemaRefused {
  const by = applied_by ? `release ${applied_by}` : "a later version";
  const [works, start] = oldest_release
    ? [`works with release ${oldest_release} and later ones`, `release ${oldest_release} or a later one`]
    : ["does not say that other releases work with it", applied_by ? `release ${applied_by}` : "that version"];
  return new SchemaRefused(
    `The database was migrated by ${by}: its migration ${name} ${works}, and this is release ${release}. ` +
      `Nothing was changed. Start ${start}, ${RESTORE}.`,
  );
}

const diverged = (name: string, release: string) =>
  new SchemaRefused(
    `The database has later migrations than ${name}, but not this one, which release ${release} needs. Another version, ` +
      `which does not know it, has migrated the database. Nothing was changed. Start that version, ${RESTORE}.`,
  );
