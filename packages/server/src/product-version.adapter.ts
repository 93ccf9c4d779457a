import { readFile } from "node:fs/promises";

const PACKAGE = new URL("../package.json", import.meta.url);

/** The version of the release, which the images, the charts and the packages share. */
export async function productVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(PACKAGE, "utf8")) as { version: string };
  return version;
}
