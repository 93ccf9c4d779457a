import {
  type AppliedMigration,
  type DeclaredMigration,
  isDeclared,
  type Migrations,
  oldestReleaseOf,
  pendingMigrations,
  SchemaRefused,
  type TableLock,
  unknownMigrations,
} from "../database/migration.ts";
import { isAtLeast, type Skew, skewOf } from "./release.ts";
import type { OperatorCount, UpgradeFacts } from "./upgrade-facts.store.ts";

/** What `upgrade-check` ends with; 1 is any failure of the check itself. */
const EXIT = { ready: 0, attention: 2, refused: 3 } as const;

interface UpgradeReport {
  readonly text: string;
  readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
}

interface Upgrade {
  readonly release: string;
  readonly migrations: Migrations;
  /** The text of each step, in the order of the migration. */
  readonly sqlOf: (migration: DeclaredMigration) => readonly string[];
}

/** Says what a start of this release does to the installation, and what to mind before. */
export function upgradeReport(upgrade: Upgrade, facts: UpgradeFacts): UpgradeReport {
  try {
    const pending = pendingMigrations(upgrade.migrations, facts.applied, upgrade.release);
    return judged(upgrade, facts, pending);
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    return { text: `${error.message}\n`, exitCode: EXIT.refused };
  }
}

function judged(upgrade: Upgrade, facts: UpgradeFacts, pending: readonly string[]): UpgradeReport {
  const { release, migrations } = upgrade;
  const { applied, servers, operators } = facts;
  const isNew = applied.length === 0;
  const attention = [
    ...(isNew ? [] : pending.flatMap((name) => undeclared(name, migrations))),
    ...leftBehind(upgrade, facts, pending),
    ...servers.flatMap((server) => ofServer(server, release)),
    ...operators.flatMap((count) => ofOperators(count, release)),
  ];
  const sections = [
    isNew
      ? [`Release ${release}, on an empty database: the first start creates everything.`]
      : [
          `Release ${release}, on a database with ${counted(applied.length, "migration")}.`,
          ...unknownMigrations(migrations, applied).map(ofLaterRelease),
          "",
          ...(pending.length === 0 ? ["No migration is to be applied."] : described(pending, upgrade)),
          `Way back: ${wayBack(upgrade, facts, pending)}`,
          `Servers: ${listed(servers.map((server) => `${server ?? "one of an unknown release"} (${skewOf(release, server)})`))}`,
          `Operators: ${listed(operators.map((count) => operatorsText(count, skewOf(release, count.release))))}`,
        ],
    attention.length === 0 ? ["", "Ready."] : ["", "Before you upgrade:", ...attention.map((line) => `- ${line}`)],
  ];
  const exitCode = attention.length === 0 ? EXIT.ready : EXIT.attention;
  return { text: `${sections.flat().join("\n")}\n`, exitCode };
}

const listed = (items: readonly string[]) => (items.length === 0 ? "none" : items.join(", "));

const ofLaterRelease = ({ name, oldest_release, applied_by }: AppliedMigration) =>
  `${name} was applied by release ${applied_by} and works from release ${oldest_release} on.`;

const HELD_UP: Readonly<Record<TableLock, string>> = {
  "ROW EXCLUSIVE": "rows that it changes",
  "SHARE UPDATE EXCLUSIVE": "nobody",
  SHARE: "writes",
  "SHARE ROW EXCLUSIVE": "writes",
  EXCLUSIVE: "writes",
  "ACCESS EXCLUSIVE": "reads and writes",
};

function described(pending: readonly string[], { migrations, sqlOf }: Upgrade): string[] {
  const each = pending.flatMap((name) => {
    const migration = migrations[name];
    if (!isDeclared(migration)) return [`  ${name}`];
    const locks = Object.entries(migration.locks).map(
      ([table, lock]) => `${table} ${lock} (holds up ${HELD_UP[lock]})`,
    );
    return [
      `  ${name}, after which release ${migration.oldestRelease} and later ones work`,
      ...sqlOf(migration).map((step) => `    step: ${step}`),
      `    locks: ${listed(locks)}`,
    ];
  });
  return ["Migrations to be applied, all in one transaction, which holds its locks until it ends:", ...each];
}

/** The oldest release that works on the database when these are applied. */
function oldestAfter({ migrations }: Upgrade, pending: readonly string[]): string | null {
  const declared = pending.map((name) => {
    const migration = migrations[name];
    return isDeclared(migration) ? migration.oldestRelease : null;
  });
  return oldestReleaseOf(declared);
}

function wayBack(upgrade: Upgrade, { applied }: UpgradeFacts, pending: readonly string[]): string {
  if (pending.length === 0) return "the schema stays as it is.";
  const oldest = oldestAfter(upgrade, pending);
  if (oldest === null) return "only the backup.";
  const recorded = oldestReleaseOf([oldest, ...applied.flatMap(({ oldest_release }) => oldest_release ?? [])]);
  return `release ${recorded} and later ones start on the migrated database.`;
}

const undeclared = (name: string, migrations: Migrations): string[] =>
  isDeclared(migrations[name])
    ? []
    : [`${name} is not of a later release than 0.1.0 and declares nothing: take a backup, and stop all servers first.`];

function ofServer(server: string | null, release: string): string[] {
  const skew = skewOf(release, server);
  if (skew === "unknown")
    return ["A server is connected that does not name its release: find out which it is, or stop all servers first."];
  if (skew === "supported") return [];
  return [`Servers of release ${server} are connected, which is not next to ${release}: upgrade one minor at a time.`];
}

/** The releases that are in use, or were the last to be, and do not work on the migrated database. */
function leftBehind(upgrade: Upgrade, { servers, applied }: UpgradeFacts, pending: readonly string[]): string[] {
  const oldest = oldestAfter(upgrade, pending);
  const former = new Set([...servers, applied.at(-1)?.applied_by ?? null]);
  const left = [...former].filter((release) => release !== null && oldest !== null && !isAtLeast(release, oldest));
  return left.map(
    (release) =>
      `Release ${release} does not work after the migrations, which need ${oldest}: stop its servers first, and take a ` +
      "backup, which is the only way back to it.",
  );
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const operatorsText = ({ release, connected, clusters }: OperatorCount, skew: Skew) =>
  `${release ?? "unknown"} in ${counted(clusters, "cluster")}${connected ? "" : " not connected now"} (${skew})`;

function ofOperators({ release: operator, clusters }: OperatorCount, release: string): string[] {
  const skew = skewOf(release, operator);
  if (skew === "supported") return [];
  if (skew === "unknown")
    return [`The operator of ${counted(clusters, "cluster")} does not name a release: ${operator ?? "nothing"}.`];
  return [
    `Operators of release ${operator} run in ${counted(clusters, "cluster")}; release ${release} supports those at most one minor ` +
      "release apart. Bring them to one of these first.",
  ];
}
