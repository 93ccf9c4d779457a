import { Group, Select, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useAll } from "../../api/all.runner.ts";
import { useAccess, useMay, useOrg } from "../../frame/org.tsx";
import { ProjectChoice } from "../../parts/project-choice.tsx";
import type { Scope } from "../gallery.ts";

export interface Place {
  readonly name: string;
  readonly scope: Scope;
  readonly projectId: string | null;
  /** Of templates that belong to no project. */
  readonly namespace: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export const NEW_PLACE: Place = {
  name: "",
  scope: "project",
  projectId: null,
  namespace: "",
  description: "",
  tags: [],
};

const SCOPES: readonly { readonly value: Scope; readonly label: string }[] = [
  { value: "project", label: "Project: those with a role on one project" },
  { value: "organization", label: "Organization: all its members" },
  { value: "global", label: "Global: everybody on this installation" },
];

/** The fields of a place as a request has them, or null while something is missing. */
export function usePlaceBody(place: Place) {
  const org = useOrg();
  const projects = useAll("listProjects", { org_id: org.id });
  const project = projects.data?.find(({ id }) => id === place.projectId);
  const common = {
    name: place.name,
    scope: place.scope,
    ...(place.description ? { description: place.description } : {}),
    ...(place.tags.length > 0 ? { tags: place.tags } : {}),
  };
  if (place.name === "") return null;
  if (place.scope !== "project") {
    return place.namespace === "" ? null : { ...common, namespace: place.namespace, org_id: org.id };
  }
  return project ? { ...common, namespace: project.namespace, project_id: project.id } : null;
}

/** Name, scope and description of a new template. Scopes that the caller may not write are not offered. */
export function TemplatePlace(props: {
  readonly place: Place;
  readonly onChange: (place: Place) => void;
  readonly problems: Readonly<Record<string, string>>;
}) {
  const { place, onChange, problems } = props;
  const access = useAccess();
  const isAdmin = useMay()("updateOrg");
  const offered = SCOPES.filter(
    ({ value }) =>
      value === "project" || (value === "organization" && isAdmin) || (value === "global" && access.is_superuser),
  );
  return (
    <Stack gap="sm">
      <Group grow align="flex-start">
        <TextInput
          label="Name of the template"
          value={place.name}
          onChange={(event) => onChange({ ...place, name: event.currentTarget.value })}
          error={problems["name"]}
          autoComplete="off"
          withAsterisk
        />
        <Select
          label="Who sees it"
          data={[...offered]}
          value={place.scope}
          onChange={(scope) => onChange({ ...place, scope: (scope ?? "project") as Scope })}
          allowDeselect={false}
          error={problems["scope"]}
        />
      </Group>
      {place.scope === "project" ? (
        <ProjectChoice
          to="deployStackTemplate"
          description="Whoever has a role on it sees the template."
          value={place.projectId}
          onChange={(projectId) => onChange({ ...place, projectId })}
          problem={problems["project_id"] ?? problems["namespace"]}
        />
      ) : (
        <TextInput
          label="Namespace"
          description="The first part of its address, such as the name of your team."
          value={place.namespace}
          onChange={(event) => onChange({ ...place, namespace: event.currentTarget.value })}
          error={problems["namespace"]}
          autoComplete="off"
          withAsterisk
        />
      )}
      <Textarea
        label="Description"
        value={place.description}
        onChange={(event) => onChange({ ...place, description: event.currentTarget.value })}
        error={problems["description"]}
        autosize
        minRows={2}
      />
      <TagsInput
        label="Tags"
        description="Press Enter after each."
        value={[...place.tags]}
        onChange={(tags) => onChange({ ...place, tags })}
        error={problems["tags"]}
      />
    </Stack>
  );
}
