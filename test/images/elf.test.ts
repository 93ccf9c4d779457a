import { expect, test } from "vitest";
import { segmentsOf, withNote } from "../../scripts/images/elf.ts";
import { singleExecutable } from "../../scripts/images/single-executable.ts";

const [LOAD, NOTE, PROGRAM_HEADERS] = [1, 4, 6];
const BASE = 0x400000;

/** A small executable: its table of segments, one that is loaded, and one with more memory than it has bytes. */
function executable(text = ""): Buffer {
  const file = Buffer.alloc(0x1000);
  file.write("\x7fELF\x02\x01\x01", 0, "latin1");
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(3, 56);
  const segments = [
    [PROGRAM_HEADERS, 64, BASE + 64, 168, 168, 8],
    [LOAD, 0, BASE, 0x800, 0x800, 0x1000],
    [LOAD, 0x800, BASE + 0x1800, 0x100, 0x40000, 0x1000],
  ];
  for (const [index, [type = 0, offset = 0, address = 0, bytes = 0, memory = 0, align = 0]] of segments.entries()) {
    const at = 64 + index * 56;
    file.writeUInt32LE(type, at);
    for (const [field, value] of [
      [8, offset],
      [16, address],
      [24, address],
      [32, bytes],
      [40, memory],
      [48, align],
    ] as const)
      file.writeBigUInt64LE(BigInt(value), at + field);
  }
  file.write(text, 0x900);
  return file;
}

test("[IM2116] an executable gets a note in a segment of its own, and keeps everything that it had", () => {
  const before = executable();
  const after = withNote(before, "NAME", Buffer.from("content"));
  const [table, first, second, added, note, ...others] = segmentsOf(after);
  expect([first, second]).toEqual(segmentsOf(before).slice(1));
  expect(others).toEqual([]);
  // Beyond all memory of the program, at the same distance from its beginning as in the file.
  expect(added).toMatchObject({ type: LOAD, offset: 0x50000, address: BASE + 0x50000, flags: 4 });
  expect(table).toMatchObject({ type: PROGRAM_HEADERS, offset: 0x50000, address: BASE + 0x50000, bytes: 5 * 56 });
  expect(note).toMatchObject({
    type: NOTE,
    offset: 0x50000 + 5 * 56,
    address: BASE + 0x50000 + 5 * 56,
    bytes: 12 + 8 + 8,
  });
  const text = after.subarray(note?.offset);
  expect([text.readUInt32LE(0), text.readUInt32LE(4)]).toEqual([5, 7]);
  expect(text.toString("latin1", 12)).toBe("NAME\0\0\0\0content\0");
  expect(after.subarray(64, 0x1000).equals(before.subarray(64))).toBe(true);
});

test("[IM2116] the added segment can be loaded by kernels with pages of 64 KiB", () => {
  const added = segmentsOf(withNote(executable(), "NAME", Buffer.alloc(100_000)))[3];
  expect(added?.align).toBe(0x10000);
  expect([(added?.offset ?? 1) % 0x10000, (added?.address ?? 1) % 0x10000]).toEqual([0, 0]);
});

test("[IM2116] Node.js is told that it holds a program, and another Node.js than expected is refused", () => {
  const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:";
  const made = singleExecutable(executable(`${fuse}0`), Buffer.from("blob"));
  expect(made.includes(`${fuse}1`)).toBe(true);
  expect(made.includes(`${fuse}0`)).toBe(false);
  for (const text of ["", `${fuse}0 ${fuse}0`])
    expect(() => singleExecutable(executable(text), Buffer.from("blob"))).toThrow("cannot become a single executable");
  expect(() => segmentsOf(Buffer.from("#!/bin/sh\n"))).toThrow("It is not a 64-bit ELF executable.");
});
