import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/**
 * Builds the console into `packages/console/dist`, and leaves it as it is where nothing that goes into it has changed. It runs
 * before every `npm start`, so a build that is not needed must cost next to nothing.
 */
const root = new URL("..", import.meta.url).pathname;
const out = join(root, "packages/console/dist");
const stamp = join(out, "inputs.txt");

const digest = inputsDigest();
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) {
  // Vite takes it from the environment, where Vitest has set `test`: React would be built for development.
  process.env["NODE_ENV"] = "production";
  const { build } = await import("vite");
  await build({ configFile: join(root, "packages/console/vite.config.ts"), logLevel: "warn" });
  for (const file of globSync("**/*.{js,css,html,svg}", { cwd: out })) compress(join(out, file));
  // Written last: a build that was interrupted is made again.
  writeFileSync(stamp, digest);
}

function inputsDigest(): string {
  // Another Node.js may compress the same files to other bytes.
  const hash = createHash("sha256").update(process.version);
  const files = globSync(
    [
      "packages/console/{src,public}/**/*",
      "packages/console/{index.html,package.json,vite.config.ts}",
      "packages/{client,manifest}/src/**/*.ts",
      "package-lock.json",
      "scripts/build-console.ts",
    ],
    { cwd: root, withFileTypes: true },
  );
  const paths = files
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of paths)
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  return hash.digest("hex");
}

/** The server sends these copies as they are, so that no request pays for the compression. */
function compress(file: string): void {
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(content));
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
}
