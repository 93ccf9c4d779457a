import { Group, Select, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useAll } from "../../api/all.runner.ts";
import type { Fields } from "../../components/form.tsx";
import { useAccess, useMay, useOrg } from "../../frame/org.tsx";
import { ProjectChoice } from "../../projects/project-choice.tsx";
import type { Scope } from "../gallery.ts";

export interface Place {
  readonly name: string;
  readonly scope: Scope;
  readonly project_id: string | null;
  /** Of templates that belong to no project. */
  readonly namespace: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export const NEW_PLACE: Place = {
  name: "",
  scope: "project",
  project_id: null,
  namespace: "",
  description: "",
  tags: [],
};

const SCOPES: readonly { readonly value: Scope; readonly label: string }[] = [
  { value: "project", label: "Project: those with a role on one project" },
  { value: "organization", label: "Organization: all its members" },
  { value: "global", label: "Global: everybody on this installation" },
];

/** Gives the fields of a place as a request has them, or null while something is missing. */
export function usePlaceBody() {
  const org = useOrg();
  const projects = useAll("listProjects", { org_id: org.id });
  return ({ name, scope, description, tags, project_id, namespace }: Place) => {
    const common = {
      name,
      scope,
      ...(description ? { description } : {}),
      ...(tags.length > 0 ? { tags } : {}),
    };
    if (name === "") return null;
    if (scope !== "project") return namespace === "" ? null : { ...common, namespace, org_id: org.id };
    const project = projects.data?.find(({ id }) => id === project_id);
    return project ? { ...common, namespace: project.namespace, project_id: project.id } : null;
  };
}

/** Name, scope and description of a new template. Scopes that the caller may not write are not offered. */
export function TemplatePlace({ field, values, set }: Fields<Place>) {
  const access = useAccess();
  const isAdmin = useMay()("updateOrg");
  const offered = SCOPES.filter(
    ({ value }) =>
      value === "project" || (value === "organization" && isAdmin) || (value === "global" && access.is_superuser),
  );
  return (
    <Stack gap="sm">
      <Group grow align="flex-start">
        <TextInput label="Name of the template" withAsterisk {...field("name")} />
        <Select label="Who sees it" data={[...offered]} allowDeselect={false} {...field("scope")} />
      </Group>
      {values.scope === "project" ? (
        <ProjectChoice
          to="deployStackTemplate"
          description="Whoever has a role on it sees the template."
          value={values.project_id}
          onChange={(project_id) => set({ project_id })}
          problem={field("project_id").error ?? field("namespace").error}
        />
      ) : (
        <TextInput
          label="Namespace"
          description="The first part of its address, such as the name of your team."
          withAsterisk
          {...field("namespace")}
        />
      )}
      <Textarea label="Description" autosize minRows={2} {...field("description")} />
      <TagsInput label="Tags" description="Press Enter after each." {...field("tags")} />
    </Stack>
  );
}
