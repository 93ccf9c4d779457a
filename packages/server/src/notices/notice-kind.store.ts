import type { DispatchedResource } from "../dispatch/dispatch.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import type { Project } from "../projects/project.ts";

/** The notice of a project is dispatched under the id of the project. */
export const dispatchedNotice = ({ id, namespace }: Pick<Project, "id" | "namespace">): DispatchedResource => ({
  kind: "notice",
  resourceId: id,
  key: `notice/${namespace}`,
});

/** A text that names the project in its namespace. It has no status of its own, so reports change nothing. */
export const noticeKind: DispatchedKind<"notice", null> = {
  kind: "notice",
  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const found = await db.selectFrom("projects").selectAll().where("id", "in", ids).execute();
    const projects = new Map(found.map((project) => [project.id, project]));
    return ({ resource_id }) => {
      const project = projects.get(resource_id);
      if (!project) return null;
      const { id: project_id, namespace, name } = project;
      return { spec: { project_id, namespace, text: `This namespace belongs to ${name}.` }, secret: {} };
    };
  },
  rejected: (message) => ({ state: "apply_failed", message }),
  lock: async (_tx, _clusterId, ids) => new Map(ids.map((id) => [id, null])),
  afterReport: () => null,
  afterLoss: () => null,
  isDeleting: () => true,
  store: async () => [],
};
