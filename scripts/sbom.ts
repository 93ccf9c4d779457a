import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Bill, type Manifest, productionBill } from "./bill-of-materials.ts";

/**
 * Writes a CycloneDX bill of materials of everything that runs in production, for every platform, from the lockfile
 * alone. Takes the file to write; `-` is the standard output.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const [file = "sbom.cdx.json"] = positionals;

const ROOT = new URL("../", import.meta.url);
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(new URL(`${folder}package.json`, ROOT), "utf8"));
const shipped = readdirSync(new URL("packages/", ROOT)).map((name) => manifestIn(`packages/${name}/`));

const everything: Bill = JSON.parse(
  execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"], {
    cwd: fileURLToPath(ROOT),
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "inherit"],
  }),
);

const bill = productionBill(everything, [manifestIn(""), ...shipped]);
const text = `${JSON.stringify(bill, null, 2)}\n`;
if (file === "-") process.stdout.write(text);
else {
  writeFileSync(file, text);
  process.stderr.write(`${file} lists ${bill.components.length} components.\n`);
}
