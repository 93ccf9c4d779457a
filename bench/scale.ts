import { parseArgs } from "node:util";
import { adminFigures, adminOf, idleFigures, superuserFigures } from "./scale-figures.ts";
import { fillWorld, sizeOf } from "./scale-world.ts";
import { withStage } from "./stage.ts";
import { printFigures } from "./table.ts";

/**
 * An installation with 5,000 clusters, 50,000 projects, 1,000,000 apps and 10,000,000 audit entries (`--scale 0.1` makes a tenth): what it
 * costs at rest, and how long those wait who see much. Ends with 1 where a limit is missed.
 */
const { values: given } = parseArgs({ options: { scale: { type: "string", default: "1" } } });

await withStage(async ({ binnacle, database, headers, settle }) => {
  const org = await fillWorld(database, sizeOf(Number(given.scale)));
  await settle();
  const admin = await adminOf(database, org, binnacle.port);
  printFigures([
    ...(await idleFigures(database)),
    ...(await adminFigures({ name: "admin of an organization", port: binnacle.port, headers: admin }, org)),
    ...(await superuserFigures({ name: "superuser", port: binnacle.port, headers }, org)),
  ]);
});
