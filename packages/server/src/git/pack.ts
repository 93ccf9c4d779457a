import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { GitObject, GitObjectType } from "./object.ts";

const TYPES: Readonly<Record<GitObjectType, number>> = { commit: 1, tree: 2, blob: 3 };

/** All objects as one file of Git, each once and whole. `git index-pack` reads it. */
export function packOf(objects: readonly GitObject[]): Buffer {
  const each = [...new Map(objects.map((object) => [object.id, object])).values()];
  const head = Buffer.from("PACK\0\0\0\0\0\0\0\0", "latin1");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(each.length, 8);
  const body = Buffer.concat([
    head,
    ...each.flatMap(({ type, content }) => [sizeOf(type, content.length), deflateSync(content)]),
  ]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

/** Four bits of the size beside the type, then seven in each byte. */
function sizeOf(type: GitObjectType, size: number): Buffer {
  const bytes = [(TYPES[type] << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes.map((byte, index) => (index < bytes.length - 1 ? byte | 128 : byte)));
}
