import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { parseConfig } from "../config.ts";
import { withDatabase } from "../database/command.adapter.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { resolveKeys } from "../local-secrets.adapter.ts";
import { createVault } from "../vault/vault.ts";
import { openGitAccess } from "./git-access.adapter.ts";
import { type Verified, verifyAll } from "./verify.runner.ts";

/** `binnacle-server gitops verify` changes nothing. It fails where a repository differs from the database, or cannot be compared. */
export async function runGitops([verb, ...rest]: readonly string[]): Promise<void> {
  if (verb !== "verify" || rest.length > 0) throw new Error("The command is: binnacle-server gitops verify");
  const config = parseConfig(process.env);
  const { vaultKeys } = await resolveKeys(config.secrets, config.dataDir);
  const vault = createVault(vaultKeys);
  const catalog = await loadCatalog();
  const git = openGitAccess(config);
  await withDatabase(config, async ({ kysely: db }) => {
    const kindsWith = (of: typeof vault) => dispatchedKinds(of, catalog);
    await verifyAll({ db, vault, git, kindsWith }, (verified) => {
      process.stdout.write(`${lineOf(verified)}\n`);
      for (const path of verified.paths) process.stdout.write(`  ${path}\n`);
      if (verified.problem !== null || verified.paths.length > 0) process.exitCode = 1;
    });
  });
}

function lineOf({ repository, head, waiting, paths, problem }: Verified): string {
  const behind = waiting > 0 ? `, ${waiting} changes wait` : "";
  if (problem !== null) return `${repository}: not compared${behind}: ${problem}`;
  if (paths.length > 0) return `${repository}: ${paths.length} files differ from the database at ${head}${behind}`;
  return `${repository}: as the database says at ${head}${behind}`;
}
