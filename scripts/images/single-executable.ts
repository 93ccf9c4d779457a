import { withNote } from "./elf.ts";

/** Node.js looks for a program of its own only where the last character of this text is a 1. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const NOTE = "NODE_SEA_BLOB";

/**
 * One executable of Node.js and a program, by the documented format of single executable applications. Nothing is executed, so a
 * machine can make it for both platforms.
 */
export function singleExecutable(node: Buffer, blob: Buffer): Buffer {
  const off = Buffer.from(`${FUSE}:0`);
  const at = node.indexOf(off);
  if (at < 0 || node.includes(off, at + 1)) throw new Error("This Node.js cannot become a single executable.");
  const executable = withNote(node, NOTE, blob);
  executable.write("1", at + off.length - 1);
  return executable;
}
