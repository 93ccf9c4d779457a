import type { AddonDefinition } from "@binnacle/client";
import { Group, Select, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useAll } from "../api/all.runner.ts";
import { prefixed } from "../api/failure.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { addonAddress } from "../components/addresses.ts";
import { useOrg } from "../frame/org.tsx";
import { ProjectChoice } from "../projects/project-choice.tsx";
import { fieldsOf, readValues, shownAddonValues, typedValues, type Values } from "./value-fields.ts";
import { ValuesForm } from "./values-form.tsx";

interface Props {
  readonly definition: AddonDefinition;
  readonly onClose: () => void;
}

/** Asks for the project, the name, the version and the values of a new instance, and goes to its page. */
export function CreateAddon({ definition, onClose }: Props) {
  const org = useOrg();
  const navigate = useNavigate();
  const projects = useAll("listProjects", { org_id: org.id });
  const fields = fieldsOf(definition);
  const { version, versions } = definition.chart;
  const begun = {
    project_id: null as string | null,
    name: definition.name,
    chart_version: version,
    values: typedValues(fields, {}),
  };
  const read = ({ values }: typeof begun) => readValues(fields, values, {});
  const inputOf = ({ project_id, name, chart_version }: typeof begun, values: Values) => ({
    body: {
      name,
      project_id: project_id ?? "",
      addon_definition_id: definition.id,
      ...(chart_version === version ? {} : { chart_version }),
      ...(Object.keys(values).length > 0 ? { values } : {}),
    },
  });
  return (
    <ActionDialog
      onClose={onClose}
      title={`Add ${definition.display_name}`}
      operation="createAddonInstance"
      values={begun}
      validate={(typed) => ({
        ...(typed.project_id === null ? { project_id: "Choose a project." } : {}),
        ...(typed.name === "" ? { name: "Give a name." } : {}),
        ...prefixed("values", read(typed).problems),
      })}
      input={(typed) => inputOf(typed, read(typed).values)}
      shownInput={(typed) => inputOf(typed, shownAddonValues(fields, read(typed).values))}
      action="Add"
      named={[definition, ...(projects.data ?? [])]}
      onDone={({ id }) => void navigate({ to: addonAddress(org.slug, id) })}
    >
      {({ field, values, set, problemsIn }) => (
        <>
          <ProjectChoice
            to="createAddonInstance"
            value={values.project_id}
            onChange={(project_id) => set({ project_id })}
            problem={field("project_id").error}
          />
          <Group grow align="flex-start">
            <TextInput label="Name" autoComplete="off" withAsterisk {...field("name")} />
            <Select
              label="Version of the chart"
              data={[...versions]}
              allowDeselect={false}
              {...field("chart_version")}
            />
          </Group>
          <ValuesForm
            fields={fields}
            typed={values.values}
            onChange={(typed) => set({ values: typed })}
            problems={problemsIn("values")}
          />
        </>
      )}
    </ActionDialog>
  );
}
