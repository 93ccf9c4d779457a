import { hash, verify } from "@node-rs/argon2";

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Does the same work for an unknown user, so that the response time reveals nothing. */
  matches(password: string, passwordHash: string | null): Promise<boolean>;
}

/**
 * Argon2id is the library's default, with the first parameters that OWASP recommends. Hashing runs off the event loop.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export async function createPasswords(cost = COST): Promise<Passwords> {
  const nobodys = await hash(crypto.randomUUID(), cost);
  return {
    hash: (password) => hash(password, cost),
    async matches(password, passwordHash) {
      const matched = await verify(passwordHash ?? nobodys, password);
      return matched && passwordHash !== null;
    },
  };
}
