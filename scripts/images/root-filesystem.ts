import { type Architecture, DEBIAN, NAMES_OF } from "./pins.ts";
import { singleExecutable } from "./single-executable.ts";
import type { Entry } from "./tar.ts";

/** The user that every image runs as, and nobody's on the machine. */
export const USER = 65532;
export const CERTIFICATES = "etc/ssl/certs/ca-certificates.crt";

export interface UnpackedPackage {
  readonly name: string;
  /** What describes it, which scanners read. */
  readonly control: Buffer;
  readonly entries: ReadonlyMap<string, Entry>;
}

const C_LIBRARIES = ["libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"];
const LOADERS: Readonly<Record<Architecture, { readonly name: string; readonly link: string }>> = {
  amd64: { name: "ld-linux-x86-64.so.2", link: "lib64/ld-linux-x86-64.so.2" },
  arm64: { name: "ld-linux-aarch64.so.1", link: "lib/ld-linux-aarch64.so.1" },
};

/** What every image has below Node.js: its libraries, certificates, and the few files that name users and hosts. No program but the loader. */
export function baseFiles(architecture: Architecture, packages: readonly UnpackedPackage[]): Entry[] {
  const { gnu } = NAMES_OF[architecture];
  const all = new Map(packages.flatMap(({ entries }) => [...entries]));
  const taken = (path: string, mode = 0o644): Entry => {
    const entry = all.get(path);
    if (!entry) throw new Error(`Debian's packages have no file ${path} for ${architecture}.`);
    return entry.type === "file" ? { ...entry, mode } : entry;
  };
  const loader = LOADERS[architecture];
  const standard = [...all.keys()].filter((path) => /^usr\/lib\/[^/]+\/libstdc\+\+\.so\.6[.\d]*$/.test(path));
  return [
    ...C_LIBRARIES.map((name) => taken(`lib/${gnu}/${name}`)),
    taken(`lib/${gnu}/${loader.name}`, 0o755),
    taken(loader.link),
    taken(`lib/${gnu}/libgcc_s.so.1`),
    ...standard.map((path) => taken(path)),
    ...packages.map(({ name }) => taken(documentation(all, name))),
    ...packages.map(({ name, control }) => file(`var/lib/dpkg/status.d/${name}`, control)),
    certificateBundle(all),
    ...accounts(),
    { type: "folder", path: "tmp", mode: 0o1777 },
  ];
}

/** The licence, or a link to the folder of the package that has it. */
function documentation(all: ReadonlyMap<string, Entry>, name: string): string {
  const folder = `usr/share/doc/${name}`;
  return all.has(folder) ? folder : `${folder}/copyright`;
}

/** As the package's own script writes it when it is installed. */
function certificateBundle(all: ReadonlyMap<string, Entry>): Entry {
  const paths = [...all.keys()].filter((path) => /^usr\/share\/ca-certificates\/.*\.crt$/.test(path)).sort();
  const contents = paths.flatMap((path) => {
    const entry = all.get(path);
    return entry?.type === "file" ? [`${entry.content.toString("utf8").trimEnd()}\n`] : [];
  });
  if (contents.length === 0) throw new Error("Debian's packages have no certificates.");
  return file(CERTIFICATES, Buffer.from(contents.join("")));
}

function accounts(): Entry[] {
  const release = `PRETTY_NAME="${DEBIAN.name}"\nNAME="Debian GNU/Linux"\nVERSION_ID="${DEBIAN.release}"\nVERSION_CODENAME=${DEBIAN.codename}\nID=debian\n`;
  return [
    text("etc/os-release", release),
    text("etc/passwd", `root:x:0:0:root:/root:/sbin/nologin\nbinnacle:x:${USER}:${USER}:binnacle:/tmp:/sbin/nologin\n`),
    text("etc/group", `root:x:0:\nbinnacle:x:${USER}:\n`),
    text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
  ];
}

const NODE = "package/bin/node";
const nodeLicence = (archive: ReadonlyMap<string, Entry>) =>
  moved(archive, "package/LICENSE", "usr/local/share/doc/node/LICENSE");

/** Node.js from its npm package. */
export const nodeFiles = (archive: ReadonlyMap<string, Entry>): Entry[] => [
  moved(archive, NODE, "usr/local/bin/node", 0o755),
  nodeLicence(archive),
];

/** One executable of Node.js and a program. */
export function executableFiles(command: string, archive: ReadonlyMap<string, Entry>, blob: Buffer): Entry[] {
  const node = archive.get(NODE);
  if (node?.type !== "file") throw new Error(`The npm package has no file ${NODE}.`);
  return [file(`usr/local/bin/${command}`, singleExecutable(node.content, blob), 0o755), nodeLicence(archive)];
}

/** The build of a library in machine code, where a bundle in `/app` requires it. */
export function nativeFiles(name: string, archive: ReadonlyMap<string, Entry>): Entry[] {
  const wanted = [...archive.keys()].filter((path) => /^package\/(?:package\.json|[^/]+\.node)$/.test(path));
  if (wanted.length < 2) throw new Error(`The package ${name} has no build in machine code.`);
  return wanted.map((path) => moved(archive, path, `app/node_modules/${name}/${path.slice("package/".length)}`));
}

function moved(archive: ReadonlyMap<string, Entry>, from: string, path: string, mode = 0o644): Entry {
  const entry = archive.get(from);
  if (entry?.type !== "file") throw new Error(`The npm package has no file ${from}.`);
  return { type: "file", path, content: entry.content, mode };
}

export const file = (path: string, content: Buffer, mode = 0o644): Entry => ({ type: "file", path, content, mode });
export const text = (path: string, content: string): Entry => file(path, Buffer.from(content));
