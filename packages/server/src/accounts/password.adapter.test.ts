import { beforeAll, describe, expect, test } from "vitest";
import { createPasswords, type Passwords } from "./password.adapter.ts";

let passwords: Passwords;
beforeAll(async () => {
  passwords = await createPasswords();
});

/** The CPU time of the work at best, in microseconds: unlike the time, it does not grow with what else the machine does. */
async function cheapest(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8; run++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
  }
  return best;
}

describe("passwords", () => {
  test("[AU16] a password is stored as an argon2id hash with a salt of its own", async () => {
    const [first, second] = [await passwords.hash("correct horse"), await passwords.hash("correct horse")];
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toBe(second);
  });

  test("[AU16] exactly the password that was hashed matches", async () => {
    const hash = await passwords.hash("Pässwörd 🧭");
    expect(await passwords.matches("Pässwörd 🧭", hash)).toBe(true);
    expect(await passwords.matches("pässwörd 🧭", hash)).toBe(false);
    expect(await passwords.matches("", hash)).toBe(false);
  });

  test("[AU2] for an unknown user no password matches, and the check takes the same work", async () => {
    const hash = await passwords.hash("correct horse");
    expect(await passwords.matches("correct horse", null)).toBe(false);
    const known = await cheapest(() => passwords.matches("wrong", hash));
    const unknown = await cheapest(() => passwords.matches("wrong", null));
    expect(unknown).toBeGreaterThan(known / 2);
    expect(known).toBeGreaterThan(unknown / 2);
  });
});
