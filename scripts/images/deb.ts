const MAGIC = "!<arch>\n";
const HEADER_BYTES = 60;

/** A Debian package is an `ar` archive of two tar archives: what is installed, and what describes it. */
export interface DebMembers {
  readonly control: Member;
  readonly data: Member;
}

export interface Member {
  /** With the ending that names the compression, as in `data.tar.xz`. */
  readonly name: string;
  readonly content: Buffer;
}

export function debMembers(archive: Buffer): DebMembers {
  if (archive.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new Error("It is not a Debian package.");
  const members: Member[] = [];
  for (let at = MAGIC.length; at + HEADER_BYTES <= archive.length; ) {
    const name = archive.toString("latin1", at, at + 16).replace(/[/ ]+$/, "");
    const bytes = Number.parseInt(archive.toString("latin1", at + 48, at + 58), 10);
    const start = at + HEADER_BYTES;
    members.push({ name, content: archive.subarray(start, start + bytes) });
    // Members begin at even places.
    at = start + bytes + (bytes % 2);
  }
  const [control, data] = ["control.tar", "data.tar"].map((wanted) =>
    members.find(({ name }) => name.startsWith(wanted)),
  );
  if (!control || !data) throw new Error("The Debian package has no control.tar or no data.tar.");
  return { control, data };
}
