/** The user a database runs as when the server itself is root, because PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export function uidFromPasswd(passwd: string, name: string): number | undefined {
  for (const line of passwd.split("\n")) {
    const [user, , uid] = line.split(":");
    if (user === name && uid) return Number(uid);
  }
  return undefined;
}

/** Debian reserves these and systemd leaves them unused. They exist in user namespaces of 65,536 ids too. */
const FIRST_OWN_ID = 65_520;
const LAST_OWN_ID = 65_533;

/** Returns an account that has no name and that nothing else runs as. In both files the id is the third field. */
export function unusedAccount(passwd: string, group: string): Account | undefined {
  const used = new Set([passwd, group].flatMap((text) => text.split("\n").map((line) => Number(line.split(":")[2]))));
  for (let id = FIRST_OWN_ID; id <= LAST_OWN_ID; id++) if (!used.has(id)) return { uid: id, gid: id };
  return undefined;
}
