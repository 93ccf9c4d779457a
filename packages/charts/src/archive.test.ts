import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ArchivedFile, archiveOf } from "./archive.ts";

const file = (path: string, text: string): ArchivedFile => ({ path, content: Buffer.from(text) });

describe("an archive", () => {
  test("[CL51] an archive does not depend on the order of its files", async () => {
    const files = [file("c/b.yaml", "b"), file("c/a.yaml", "a"), file("c/d/e.tpl", "x".repeat(600))];
    const archive = await archiveOf(files);
    expect(archive.equals(await archiveOf(files.toReversed()))).toBe(true);
    expect(archive.equals(await archiveOf(files.slice(1)))).toBe(false);
  });

  test("[CL50] tar reads an archive file by file", async () => {
    const sizes = fc.array(fc.uint8Array({ maxLength: 1100 }), { minLength: 1, maxLength: 4 });
    const folder = mkdtempSync(join(tmpdir(), "binnacle-archive-"));
    try {
      await fc.assert(
        fc.asyncProperty(sizes, async (contents) => {
          const files = contents.map((content, index) => ({ path: `c/f${index}`, content: Buffer.from(content) }));
          writeFileSync(join(folder, "a.tgz"), await archiveOf(files));
          execFileSync("tar", ["-xzf", "a.tgz"], { cwd: folder });
          for (const { path, content } of files) expect(readFileSync(join(folder, path)).equals(content)).toBe(true);
        }),
        { numRuns: 20 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("[CL50] an archive keeps a path that is longer than a header holds", async () => {
    const folder = mkdtempSync(join(tmpdir(), "binnacle-archive-"));
    const path = `c/${"long/".repeat(30)}name`;
    try {
      writeFileSync(join(folder, "a.tgz"), await archiveOf([file(path, "far"), file("c/near", "near")]));
      execFileSync("tar", ["-xzf", "a.tgz"], { cwd: folder });
      expect(readFileSync(join(folder, path), "utf8")).toBe("far");
      expect(readFileSync(join(folder, "c/near"), "utf8")).toBe("near");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
