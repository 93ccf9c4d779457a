import { administer } from "@binnacle/world/postgres";

/**
 * Makes `now()` of a database say what a test says. PostgreSQL looks into its catalog first, unless a path names it later. It is for
 * connections that begin afterwards.
 */
export async function turnedClock(url: string, at: Date): Promise<(at: Date) => Promise<void>> {
  const turn = (time: Date) =>
    administer(url, async (admin) => {
      await admin.query(`create or replace function public.now() returns timestamptz stable language sql
        as $$ select timestamptz '${time.toISOString()}' $$`);
    });
  await turn(at);
  await administer(url, (admin) =>
    admin.query(`do $$ begin
      execute format('alter database %I set search_path = public, pg_catalog', current_database());
    end $$`),
  );
  return turn;
}
