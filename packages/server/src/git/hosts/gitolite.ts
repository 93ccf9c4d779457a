import { createHash } from "node:crypto";
import { GitProblem } from "../git-problem.ts";
import { blobOf } from "../object.ts";
import { readPublicKey } from "../ssh-key.ts";
import type { FileChanges } from "../tree.ts";
import { checkedName } from "./repository-name.ts";

/** The line by which whoever runs gitolite lets Binnacle write files of its own, and no others. */
export const INCLUDE = 'include "binnacle/*.conf"';
export const MAIN_FILE = "conf/gitolite.conf";
const CONF = "conf/binnacle/";
const KEYS = "keydir/binnacle/";
const USER = "binnacle-";

/** The files of the administration repository that count here, by their paths. */
export type AdminFiles = ReadonlyMap<string, string>;

export const isOurFile = (path: string): boolean => path.startsWith(CONF) || path.startsWith(KEYS);

export const includesOurs = (main: string): boolean =>
  main.split("\n").some((line) => line.replace(/#.*/, "").trim().replaceAll("'", '"') === INCLUDE);

/** The path of a repository at the host. */
export const repositoryPath = (name: string): string => `binnacle/${checkedName(name)}`;

/** Gitolite knows people by the names of the files of their keys, so that a key has one name wherever it is used. */
export function keyIdOf(publicKey: string): string {
  const key = readPublicKey(publicKey);
  if (!key) throw new GitProblem("not_set_up", "The deploy key is not a public key of OpenSSH.");
  return createHash("sha256").update(key.blob).digest("hex").slice(0, 32);
}

export function withRepository(files: AdminFiles, name: string, admin: string): FileChanges {
  const path = confPath(name);
  return written(files, path, confOf(name, admin, keysOf(files.get(path) ?? "")));
}

export function withKey(
  files: AdminFiles,
  name: string,
  { admin, title, publicKey }: { readonly admin: string; readonly title: string; readonly publicKey: string },
): FileChanges {
  const path = confPath(name);
  const id = keyIdOf(publicKey);
  const conf = confOf(name, admin, [...keysOf(files.get(path) ?? ""), id]);
  const line = `${readPublicKey(publicKey)?.line} ${title.replace(/[^A-Za-z0-9@._-]+/g, "-").slice(0, 100)}\n`;
  // The title of a key that is there already stays: gitolite would compile everything again for nothing.
  const keyFile = files.has(keyPath(id)) ? new Map() : written(files, keyPath(id), line);
  return new Map([...written(files, path, conf), ...keyFile]);
}

/** The file of the key goes with its last repository. */
export function withoutKey(files: AdminFiles, name: string, id: string, admin: string): FileChanges {
  const path = confPath(name);
  const conf = files.get(path);
  const keys = keysOf(conf ?? "").filter((key) => key !== id);
  const changes = conf === undefined ? new Map() : written(files, path, confOf(name, admin, keys));
  const isUsed = [...files].some(([other, text]) => other !== path && keysOf(text).includes(id));
  return isUsed || !files.has(keyPath(id)) ? changes : new Map([...changes, [keyPath(id), null]]);
}

export const hasKey = (files: AdminFiles, id: string): boolean => files.has(keyPath(id));

const confPath = (name: string) => `${CONF}${checkedName(name)}.conf`;
const keyPath = (id: string) => `${KEYS}${USER}${id}.pub`;

/** Nobody may rewrite or remove a branch. */
function confOf(name: string, admin: string, keys: readonly string[]): string {
  const users = [...new Set(keys)].sort().map((id) => USER + id);
  const write = users.length > 0 ? `    RW = ${users.join(" ")}\n` : "";
  return `# Written by Binnacle, which replaces changes.\nrepo ${repositoryPath(name)}\n    R = ${admin}\n${write}`;
}

const keysOf = (conf: string): readonly string[] =>
  (/^ +RW = (.*)$/m.exec(conf)?.[1] ?? "")
    .split(" ")
    .filter((user) => /^binnacle-[0-9a-f]{32}$/.test(user))
    .map((user) => user.slice(USER.length));

function written(files: AdminFiles, path: string, text: string): FileChanges {
  return files.get(path) === text ? new Map() : new Map([[path, blobOf(text)]]);
}

export interface Greeting {
  /** The name by which gitolite knows the key. */
  readonly user: string;
  readonly canAdminister: boolean;
}

/** Reads what the command `info` of gitolite prints; null where something else answers. */
export function greetingOf(text: string): Greeting | null {
  const user = /^hello ([A-Za-z0-9][A-Za-z0-9@._+-]{0,99}), this is \S+ running gitolite/m.exec(text)?.[1];
  return user === undefined ? null : { user, canAdminister: /^\s*R W\s+gitolite-admin\s*$/m.test(text) };
}
