/** The memory of an idle container in millions of bytes. */
export interface IdleMemory {
  /** What is its alone: `RssAnon` and `RssShmem` of the kernel. */
  readonly ownMb: number;
  /** Files such as the program itself (`RssFile`), which containers of one node share and the kernel may drop. */
  readonly mappedMb: number;
}

/** The compressed size of an image for one platform, which is what a node downloads. */
export interface Size {
  readonly image: string;
  readonly platform: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly limitMb: number;
  /** What was measured last; null where it was not measured for the platform, or the program does not go on running. */
  readonly memory: IdleMemory | null;
  readonly memoryLimitMb: number | null;
  /** The digest of the image's index, which is the same for every platform. */
  readonly digest: string;
}

export function requireWithinLimits(sizes: readonly Size[]): void {
  if (sizes.some(({ bytes, limitMb }) => bytes > limitMb * 1e6)) throw new Error("An image is larger than its limit.");
}

const NONE = "-";
const inMb = (bytes: number) => (bytes / 1e6).toFixed(1);

/** A table for people, with columns of even width. */
export function sizeTable(sizes: readonly Size[]): string {
  const head = [
    "image",
    "platform",
    "compressed MB",
    "limit MB",
    "unpacked MB",
    "idle MB",
    "limit MB",
    "mapped MB",
    "digest",
  ];
  const rows = sizes.map(({ image, platform, bytes, limitMb, unpackedBytes, memory, memoryLimitMb, digest }) => [
    image,
    platform,
    inMb(bytes),
    String(limitMb),
    inMb(unpackedBytes),
    String(memory?.ownMb ?? NONE),
    String(memoryLimitMb ?? NONE),
    String(memory?.mappedMb ?? NONE),
    digest,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        cell === NONE || /^[\d.]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return `${[head, ...rows].map(line).join("\n")}\n`;
}
