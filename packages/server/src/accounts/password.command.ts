import { text } from "node:stream/consumers";
import { password as passwordOf } from "../config/parsers.ts";
import { isWellKnown, parseConfig } from "../config.ts";
import { withDatabase } from "../database/command.adapter.ts";
import { setPassword } from "./default-password.store.ts";
import { createPasswords } from "./password.adapter.ts";

/**
 * `binnacle-server password <username>` sets the password of a user from the first line of the standard input. It is for a
 * superuser who cannot sign in, or whose password prevents the server from starting.
 */
export async function runPassword([username]: readonly string[]): Promise<void> {
  if (!username)
    throw new Error('Name the user: "npm run password -- <username>", with the new password on the standard input.');
  const config = parseConfig(process.env);
  if (process.stdin.isTTY) process.stderr.write("The new password, then Enter and Ctrl-D (it is shown):\n");
  const [line = ""] = (await text(process.stdin)).split(/\r?\n/);
  const password = checked(line);
  const { hash } = await createPasswords();
  const passwordHash = await hash(password);
  await withDatabase(config, async ({ kysely }) => {
    if (!(await setPassword(kysely, { username, passwordHash, now: new Date() }))) {
      throw new Error(`There is no user ${JSON.stringify(username)}.`);
    }
  });
  process.stdout.write(`${username} has a new password; sessions and CLI tokens of the old one have ended.\n`);
}

function checked(line: string): string {
  if (isWellKnown(line)) throw new Error("The password is a well-known default; choose one of your own.");
  try {
    return passwordOf(line);
  } catch (error) {
    throw new Error(`The password ${(error as Error).message}.`);
  }
}
