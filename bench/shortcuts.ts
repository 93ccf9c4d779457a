import { measure, printRounds, ratio } from "./rounds.ts";
import { withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/**
 * Measures what each shortcut of the server gains for an authenticated read: the server as it is against the same server
 * with the plain way of doing it. A shortcut that gains less than 10 % has to be removed.
 */
const SHORTCUTS = ["prepared-query"] as const;

await withStage(async ({ binnacle, orgId, headers, variant }) => {
  const path = `/api/v1/orgs/${orgId}`;
  const plain: [string, Awaited<ReturnType<typeof variant>>][] = [];
  for (const name of SHORTCUTS) plain.push([name, await variant(name)]);
  const rounds = await measure({
    "as it is": { process: binnacle, path, headers },
    ...Object.fromEntries(plain.map(([name, server]) => [`without ${name}`, { process: server, path, headers }])),
  });
  printRounds(rounds);
  printTable(
    ["shortcut", "aim", "requests/s with it, of those without", "CPU with it, of that without"],
    SHORTCUTS.map((name) => {
      const without = rounds[`without ${name}` as keyof typeof rounds];
      const as = rounds["as it is"];
      return [name, "≥ 1.10", ratio("perSecond", as, without), ratio("cpuUsPerRequest", as, without)];
    }),
  );
});
