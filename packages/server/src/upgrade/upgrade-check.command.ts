import { parseConfig } from "../config.ts";
import { withDatabase } from "../database/command.adapter.ts";
import { MIGRATIONS } from "../database/migrate.ts";
import type { DeclaredMigration } from "../database/migration.ts";
import { productVersion } from "../product-version.adapter.ts";
import { readUpgradeFacts } from "./upgrade-facts.store.ts";
import { upgradeReport } from "./upgrade-report.ts";

/** `binnacle-server upgrade-check` is run by the release that is to be started. It changes nothing. */
export async function runUpgradeCheck(): Promise<void> {
  const release = await productVersion();
  await withDatabase(parseConfig(process.env), async ({ kysely }) => {
    const upgrade = {
      release,
      migrations: MIGRATIONS,
      sqlOf: ({ steps }: DeclaredMigration) =>
        steps.map((step) => step.compile(kysely).sql.replace(/\s+/g, " ").trim()),
    };
    const { text, exitCode } = upgradeReport(upgrade, await readUpgradeFacts(kysely));
    process.stdout.write(text);
    process.exitCode = exitCode;
  });
}
