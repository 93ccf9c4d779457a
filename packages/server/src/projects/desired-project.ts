import type { ProjectBody } from "@binnacle/contract";
import type { Project } from "./project.ts";

/** What a cluster is told of a project. */
export const projectBody = ({
  org_id,
  name,
  namespace,
}: Pick<Project, "org_id" | "name" | "namespace">): ProjectBody => ({
  spec: { org_id, name, namespace },
  secret: {},
});
