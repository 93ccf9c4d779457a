import { sql } from "kysely";
import type { ListedComponent } from "../apps/app.ts";
import type { Queries } from "../database/transaction.ts";

/** The most apps and addon instances that a preview names. */
const MOST_NAMED = 500;

/** The apps and addon instances of a project. */
export async function projectContents(db: Queries, projectId: string) {
  const [apps, instances] = await Promise.all([
    db
      .selectFrom("apps")
      .select(["id", "name", sql<ListedComponent[]>`listed_components::jsonb`.as("components")])
      .where("project_id", "=", projectId)
      .orderBy("name")
      .limit(MOST_NAMED + 1)
      .execute(),
    db
      .selectFrom("addon_instances")
      .select(["id", "name"])
      .where("project_id", "=", projectId)
      .orderBy("name")
      .limit(MOST_NAMED + 1)
      .execute(),
  ]);
  const isCut = apps.length > MOST_NAMED || instances.length > MOST_NAMED;
  return { apps: apps.slice(0, MOST_NAMED), instances: instances.slice(0, MOST_NAMED), isCut };
}
