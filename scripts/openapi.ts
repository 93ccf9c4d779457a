import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { appManifestSchema } from "../packages/contract/src/app-manifest.ts";
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

/**
 * Writes `openapi.json` from the routes, the client's tables and types from that, the schema of `binnacle.yaml`, and on
 * record which contract it is. With `--unreleased` a contract that nobody relies on yet may change under its number.
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
writeFileSync(RECORD_FILE, textOf(record));
writeFileSync(new URL("../packages/cli/binnacle.schema.json", import.meta.url), textOf(appManifestSchema()));
