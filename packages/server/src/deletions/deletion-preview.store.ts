import { sql } from "kysely";
import type { ListedComponent } from "../apps/app.ts";
import { readBounded } from "../database/prepared.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";

/** The most apps and addon instances that a preview names. */
const MOST_NAMED = 500;

interface NamedApp {
  readonly id: string;
  readonly name: string;
  readonly components: readonly ListedComponent[];
}

/** The apps and addon instances of a project. Apps with much about their components are fewer. */
export async function projectContents(db: Queries, projectId: string) {
  const named = sql<NamedApp>`
    select id, name, listed_components::jsonb as components from apps where project_id = ${projectId}
    order by name limit ${MOST_NAMED}`;
  const [apps, { total }, instances] = await Promise.all([
    readBounded<NamedApp>(db, named.compile(db), ENOUGH_CHARACTERS),
    db
      .selectFrom("apps")
      .select((count) => count.fn.countAll<number>().as("total"))
      .where("project_id", "=", projectId)
      .executeTakeFirstOrThrow(),
    db
      .selectFrom("addon_instances")
      .select(["id", "name"])
      .where("project_id", "=", projectId)
      .orderBy("name")
      .limit(MOST_NAMED + 1)
      .execute(),
  ]);
  const isCut = apps.length < total || instances.length > MOST_NAMED;
  return { apps, instances: instances.slice(0, MOST_NAMED), isCut };
}
