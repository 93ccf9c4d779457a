import { hash, verify } from "@node-rs/argon2";

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Does the same work when there is no such user, so that the time taken does not tell. */
  matches(password: string, passwordHash: string | null): Promise<boolean>;
}

/** Argon2id is the library's default and its numbers are OWASP's first choice; the work runs off the event loop. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export async function createPasswords(): Promise<Passwords> {
  const nobodys = await hash(crypto.randomUUID(), COST);
  return {
    hash: (password) => hash(password, COST),
    async matches(password, passwordHash) {
      const matched = await verify(passwordHash ?? nobodys, password);
      return matched && passwordHash !== null;
    },
  };
}
