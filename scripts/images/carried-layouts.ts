import { type Layout, layoutFiles } from "./oci.ts";
import { file } from "./root-filesystem.ts";
import type { Entry } from "./tar.ts";

/** The files of layouts below a folder. A blob that several of them have is there once, and the others lead to it. */
export function carriedLayouts(folder: string, layouts: ReadonlyMap<string, Layout>): Entry[] {
  const placed = new Map<string, string>();
  return [...layouts].flatMap(([name, layout]) =>
    [...layoutFiles(layout)].map(([relative, content]): Entry => {
      const path = `${folder}/${name}/${relative}`;
      const first = relative.startsWith("blobs/") ? placed.get(relative) : undefined;
      if (first) return { type: "link", path, target: `/${first}` };
      placed.set(relative, path);
      return file(path, content);
    }),
  );
}
