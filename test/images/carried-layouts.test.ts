import { expect, test } from "vitest";
import { carriedLayouts } from "../../scripts/images/carried-layouts.ts";
import { LayoutWriter } from "../../scripts/images/oci.ts";

test("[IM2316] a blob that several layouts have is carried once, and the others lead to it", () => {
  const layouts = ["server", "cli"].map((name) => {
    const layout = new LayoutWriter();
    layout.tag("1.0.0", layout.add("text/plain", Buffer.from("shared by both")));
    layout.add("text/plain", Buffer.from(`of ${name} alone`));
    return [name, layout] as const;
  });
  const entries = carriedLayouts("images", new Map(layouts));
  const links = entries.filter((entry) => entry.type === "link");
  expect(links).toEqual([
    { type: "link", path: expect.stringMatching(/^images\/cli\/blobs\/sha256\//), target: expect.any(String) },
  ]);
  const target = entries.find(({ path }) => `/${path}` === links[0]?.target);
  expect(target).toMatchObject({ type: "file", content: Buffer.from("shared by both") });
  const own = entries.filter(({ path }) => path.endsWith("/index.json"));
  expect(own.map(({ path, type }) => [path, type])).toEqual([
    ["images/server/index.json", "file"],
    ["images/cli/index.json", "file"],
  ]);
});
