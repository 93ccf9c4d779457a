import { unannounced } from "./access/access-change.ts";
import type { Passwords } from "./accounts/password.adapter.ts";
import { insertUser } from "./accounts/user.store.ts";
import type { Clock } from "./clock.ts";
import { type Config, LOCAL_ADMIN } from "./config.ts";
import { inTransaction, type Queries, type Tx } from "./database/transaction.ts";
import { newId } from "./id.adapter.ts";
import { insertMember, insertOrg } from "./orgs/org.store.ts";
import { slugOf } from "./orgs/org.ts";
import { DEFAULT_TIER, SEEDED_TIERS } from "./tiers/tier.ts";

/** Creates the initial rows of an installation. Every replica runs it at every start; existing rows stay unchanged. */
export async function seed(db: Queries, passwords: Passwords, config: Config, clock: Clock): Promise<void> {
  const now = clock();
  const tiers = SEEDED_TIERS.map((name) => ({ name, created_at: now, updated_at: now }));
  await db
    .insertInto("tiers")
    .values(tiers)
    .onConflict((on) => on.doNothing())
    .execute();
  if (await hasUsers(db)) return;

  const email = config.adminEmail ?? LOCAL_ADMIN.email;
  const password_hash = await passwords.hash(config.secrets.adminPassword ?? LOCAL_ADMIN.password);
  await inTransaction(db, async (tx) => {
    // Of replicas that start together on an empty database one seeds, and the others find it done.
    await tx.selectFrom("tiers").select("name").where("name", "=", DEFAULT_TIER).forUpdate().execute();
    if (await hasUsers(tx)) return;
    const admin = {
      id: newId(),
      name: "Administrator",
      username: LOCAL_ADMIN.username,
      email,
      email_verified: true,
      email_vouched_by: [],
      password_hash,
      profile_image_url: null,
      is_superuser: true,
      disabled: false,
      tier_name: DEFAULT_TIER,
      created_at: now,
      updated_at: now,
    };
    await insertUser(tx, admin);
    if (config.environment === "local") await insertDemo(tx, admin.id, now);
  });
}

async function insertDemo(tx: Tx, adminId: string, now: Date): Promise<void> {
  const id = newId();
  const name = "demo";
  await insertOrg(tx, {
    id,
    name,
    slug: slugOf(name, id),
    description: null,
    settings: {},
    created_at: now,
    updated_at: now,
  });
  await insertMember(unannounced(tx), { orgId: id, userId: adminId, role: "admin", now });
}

async function hasUsers(db: Queries): Promise<boolean> {
  return (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined;
}
