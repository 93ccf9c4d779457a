/** Digests of archives that people download of the command line, as in `sha256:…`. */
export interface CliDownloads {
  readonly version: string;
  /** The path below which an archive is found by the hexadecimal part of its digest. */
  readonly path: string;
  /** By the architecture of Linux, as the image has it. */
  readonly executables: ReadonlyMap<string, string>;
  /** One file that runs on Node.js, on any platform. */
  readonly file: string;
}

/**
 * The script that installs the command line: values, and after them the part that is always the same. The address is the configured
 * one. A Host header has no influence on it, because whoever sends the header could choose what others run.
 */
export function installScript(body: string, publicUrl: string, downloads: CliDownloads): string {
  const { version, path, executables, file } = downloads;
  const values = {
    url: publicUrl,
    path,
    version,
    amd64: hexOf(executables.get("amd64")),
    arm64: hexOf(executables.get("arm64")),
    any: hexOf(file),
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `${HEAD}${lines.join("")}${body}`;
}

/** A pipe into a shell has no status, so the reason is told by a script that fails. */
export const refusingScript = (reason: string): string =>
  `#!/bin/sh\nprintf 'error: %s\\n' ${quoted(reason)} >&2\nexit 1\n`;

const HEAD = `#!/bin/sh
# Installs the command line of Binnacle, in the version of this control plane, to ~/.local/bin or to the folder of
# BINNACLE_INSTALL_DIR. It needs no root, and replaces the program only with one that has the right SHA-256 and runs.
`;

const hexOf = (digest = "") => digest.replace(/^sha256:/, "");
const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
