import { readdirSync, readFileSync } from "node:fs";
import { freshDatabase, restoredDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../migrate.ts";
import type { Queries } from "../transaction.ts";

const RELEASES = new URL("./releases/", import.meta.url);

/** The schema as PostgreSQL describes it, one line for each part, in an order that does not depend on how it was made. */
async function schemaOf(db: Queries): Promise<string[]> {
  const { rows } = await sql<{ part: string }>`
    select concat_ws(' ', 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)) as part
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relkind in ('r', 'p', 'v', 'm') and c.relnamespace = 'public'::regnamespace
    union all select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select concat_ws(' ', 'index', indexdef) from pg_indexes where schemaname = 'public'
    union all select concat_ws(' ', 'trigger', pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
    union all select concat_ws(' ', 'function', pg_get_functiondef(oid)) from pg_proc where pronamespace = 'public'::regnamespace
    union all select concat_ws(' ', 'storage', relname, reloptions) from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and reloptions is not null
    union all select concat_ws(' ', 'migration', name) from kysely_migration
    order by 1`.execute(db);
  return rows.map(({ part }) => part);
}

test.each(readdirSync(RELEASES))(
  "[DB24] the database of %s is brought up to exactly the schema that a new one has",
  async (release) => {
    const [fresh, old] = [
      await freshDatabase(),
      await restoredDatabase(readFileSync(new URL(release, RELEASES), "utf8")),
    ];
    onTestFinished(async () => {
      await fresh.drop();
      await old.drop();
    });
    const expected = await schemaOf(fresh.database.kysely);
    expect(expected.length).toBeGreaterThan(300);
    await migrate(old.database.kysely);
    expect(await schemaOf(old.database.kysely)).toEqual(expected);
  },
);
