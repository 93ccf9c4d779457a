/** The offsets of the fields of a 64-bit ELF file that are read or changed here. */
const HEADER = { programHeaders: 32, entryBytes: 54, entries: 56 } as const;
const ENTRY = { type: 0, flags: 4, offset: 8, address: 16, physical: 24, fileBytes: 32, memoryBytes: 40, align: 48 };
const ENTRY_BYTES = 56;
const [LOAD, NOTE, PROGRAM_HEADERS] = [1, 4, 6];
const READABLE = 4;

/** The largest page of any kernel for arm64. Kernels with larger pages than a segment is aligned to refuse to start the program. */
const PAGE_BYTES = 0x10000;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
  readonly memoryBytes: number;
  readonly align: number;
}

/**
 * A copy of an executable for Linux with one more note in its memory. The note and a longer table of segments go to the end of the file, at
 * the distance from the first segment that they have in memory too: kernels before 5.18 look for the table there.
 */
export function withNote(executable: Buffer, name: string, content: Buffer): Buffer {
  const segments = segmentsOf(executable);
  const loaded = segments.filter(({ type }) => type === LOAD);
  const [first] = loaded;
  if (!first) throw new Error("The executable has no segment that is loaded.");
  const base = first.address - first.offset;
  const memoryEnd = Math.max(...loaded.map(({ address, memoryBytes }) => address + memoryBytes));
  const offset = roundedUp(Math.max(executable.length, memoryEnd - base), PAGE_BYTES);
  const tableBytes = ENTRY_BYTES * (segments.length + 2);
  const note = noteOf(name, content);
  const placed = { flags: READABLE, offset, address: base + offset };
  const noteBytes = note.length;
  const bytes = tableBytes + noteBytes;
  const table = [
    ...segments.map((segment) =>
      segment.type === PROGRAM_HEADERS
        ? { ...segment, ...placed, bytes: tableBytes, memoryBytes: tableBytes }
        : segment,
    ),
    { ...placed, type: LOAD, bytes, memoryBytes: bytes, align: PAGE_BYTES },
    {
      type: NOTE,
      flags: READABLE,
      offset: offset + tableBytes,
      address: base + offset + tableBytes,
      bytes: noteBytes,
      memoryBytes: noteBytes,
      align: 4,
    },
  ];
  const header = Buffer.from(executable.subarray(0, 64));
  header.writeBigUInt64LE(BigInt(offset), HEADER.programHeaders);
  header.writeUInt16LE(table.length, HEADER.entries);
  const gap = Buffer.alloc(offset - executable.length);
  return Buffer.concat([header, executable.subarray(64), gap, ...table.map(entryOf), note]);
}

/** The segments of an executable, in the order of its table. */
export function segmentsOf(executable: Buffer): Segment[] {
  // 64-bit and little-endian, as both platforms are.
  if (executable.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") throw new Error("It is not a 64-bit ELF executable.");
  if (executable.readUInt16LE(HEADER.entryBytes) !== ENTRY_BYTES) throw new Error("Its table of segments is unknown.");
  const start = Number(executable.readBigUInt64LE(HEADER.programHeaders));
  return Array.from({ length: executable.readUInt16LE(HEADER.entries) }, (_, index) => {
    const at = start + index * ENTRY_BYTES;
    const long = (field: number) => Number(executable.readBigUInt64LE(at + field));
    return {
      type: executable.readUInt32LE(at + ENTRY.type),
      flags: executable.readUInt32LE(at + ENTRY.flags),
      offset: long(ENTRY.offset),
      address: long(ENTRY.address),
      bytes: long(ENTRY.fileBytes),
      memoryBytes: long(ENTRY.memoryBytes),
      align: long(ENTRY.align),
    };
  });
}

function entryOf({ type, flags, offset, address, bytes, memoryBytes, align }: Segment): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  entry.writeUInt32LE(type, ENTRY.type);
  entry.writeUInt32LE(flags, ENTRY.flags);
  const longs = [
    [ENTRY.offset, offset],
    [ENTRY.address, address],
    [ENTRY.physical, address],
    [ENTRY.fileBytes, bytes],
    [ENTRY.memoryBytes, memoryBytes],
    [ENTRY.align, align],
  ] as const;
  for (const [field, value] of longs) entry.writeBigUInt64LE(BigInt(value), field);
  return entry;
}

/** The length of the name with its final zero, the length of the content, a type that nobody reads, then both. */
function noteOf(name: string, content: Buffer): Buffer {
  const named = Buffer.from(`${name}\0`);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(named.length, 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, padded(named), padded(content)]);
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(roundedUp(bytes.length, 4) - bytes.length)]);
const roundedUp = (value: number, unit: number) => Math.ceil(value / unit) * unit;
