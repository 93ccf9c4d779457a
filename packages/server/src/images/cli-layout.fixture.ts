import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { EXECUTABLE, LayoutWriter, layoutFiles, PROGRAM } from "../../../../scripts/images/oci.ts";
import { type Entry, writeTar } from "../../../../scripts/images/tar.ts";

const RUN = { User: "65532", Env: [], Entrypoint: [], WorkingDir: "/app", Labels: {} };

/** Writes the image of the command line with scripts in place of its executables; returns the digests of their layers. */
export function writeCliLayout(
  folder: string,
  version: string,
  executables: Readonly<Record<string, string>>,
  program: string,
): { readonly blobs: string; readonly executables: Readonly<Record<string, string>> } {
  const layout = new LayoutWriter();
  const layer = (name: string, path: string, text: string) => {
    const entry: Entry = { type: "file", path, content: Buffer.from(text), mode: 0o755 };
    const tar = writeTar([entry]);
    const content = gzipSync(tar);
    return { name, content, diffId: sha256(tar) };
  };
  const file = layer(PROGRAM, "app/binnacle.mjs", program);
  const layers = Object.entries(executables).map(
    ([architecture, text]) => [architecture, layer(EXECUTABLE, "usr/local/bin/binnacle", text)] as const,
  );
  const manifests = layers.map(([architecture, executable]) =>
    layout.addImage({ os: "linux", architecture }, [executable, file], RUN, "1970-01-01T00:00:00Z"),
  );
  layout.tag(version, layout.addIndex(manifests, {}));
  for (const [path, content] of layoutFiles(layout)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
  const digests = layers.map(([architecture, { content }]) => [architecture, sha256(content)]);
  return { blobs: join(folder, "blobs/sha256"), executables: Object.fromEntries(digests) };
}

const sha256 = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
