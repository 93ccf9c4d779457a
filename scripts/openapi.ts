import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { lineTable } from "../packages/cli/src/command-line.ts";
import { appManifestSchema } from "../packages/contract/src/app-manifest.ts";
import { CLOUD_PROVIDERS } from "../packages/contract/src/rest/providers.ts";
import { ACCESS_FILE, accessSource, TABLE_FILE, TYPES_FILE, tableSource, typesSource } from "./client-source.ts";
import {
  DOCUMENT_FILE,
  objectionTo,
  presentDocument,
  presentRecord,
  RECORD_FILE,
  recordedContract,
  releasedContract,
  textOf,
} from "./contract.ts";
import { REASONS_FILE, REASONS_PAGE, reasonsPage, reasonsSource } from "./reasons.ts";

/**
 * Writes `openapi.json` from the routes, the client's tables and types from that, the schema of `binnacle.yaml`, the providers
 * and the table of command lines for the command line, the list of reasons for the client and as a page, and on record which contract
 * it is. With `--unreleased` a contract that nobody relies on yet may change under its number.
 */
const { values } = parseArgs({ options: { unreleased: { type: "boolean", default: false } } });

const document = presentDocument();
const record = presentRecord(document);
const objection = objectionTo(record, recordedContract());
const isTolerated = values.unreleased && record.contract === recordedContract()?.contract;
const released = releasedContract();
const refusal =
  (isTolerated ? null : objection) ?? (typeof released === "string" ? null : objectionTo(record, released));
if (refusal) {
  process.stderr.write(`${refusal}\n`);
  process.exit(1);
}
writeFileSync(DOCUMENT_FILE, textOf(document));
writeFileSync(TABLE_FILE, tableSource(document));
writeFileSync(TYPES_FILE, typesSource(document));
writeFileSync(ACCESS_FILE, accessSource(document));
writeFileSync(REASONS_FILE, reasonsSource());
writeFileSync(REASONS_PAGE, reasonsPage());
writeFileSync(RECORD_FILE, textOf(record));
writeFileSync(new URL("../packages/manifest/binnacle.schema.json", import.meta.url), textOf(appManifestSchema()));
writeFileSync(new URL("../packages/cli/src/generated/cloud-providers.json", import.meta.url), textOf(CLOUD_PROVIDERS));
// Loaded here, because options of commands are made of the providers.
const { COMMANDS } = await import("../packages/cli/src/commands.ts");
writeFileSync(new URL("../packages/cli/src/generated/command-lines.json", import.meta.url), lineTable(COMMANDS));
