import type { AddonDefinition } from "@binnacle/client";
import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { addonAddress } from "../parts/addresses.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { ProjectChoice } from "../parts/project-choice.tsx";
import { fieldsOf, readValues, shownAddonValues, typedValues, type Values, valueProblems } from "./value-fields.ts";
import { ValuesForm } from "./values-form.tsx";

/** Asks for the project, the name, the version and the values of a new instance, and goes to its page. */
export function CreateAddon({
  definition,
  onClose,
}: {
  readonly definition: AddonDefinition;
  readonly onClose: () => void;
}) {
  const org = useOrg();
  const navigate = useNavigate();
  const change = useChange("createAddonInstance");
  const fields = fieldsOf(definition);
  const [projectId, setProjectId] = useState<string | null>(null);
  const [name, setName] = useState(definition.name);
  const [version, setVersion] = useState(definition.chart.version);
  const [typed, setTyped] = useState(() => typedValues(fields, {}));
  const [isTried, setTried] = useState(false);
  const { values, problems } = readValues(fields, typed, {});
  const failed = change.error ? failureView(change.error).fields : {};
  const input = (given: Values) => ({
    body: {
      name,
      project_id: projectId ?? "",
      addon_definition_id: definition.id,
      ...(version === definition.chart.version ? {} : { chart_version: version }),
      ...(Object.keys(given).length > 0 ? { values: given } : {}),
    },
  });

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length > 0 || projectId === null || change.isPending) return;
    try {
      const made = await change.mutateAsync(input(values));
      await navigate({ to: addonAddress(org.slug, made.id) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Dialog opened onClose={onClose} title={`Add ${definition.display_name}`} size="lg">
      <form onSubmit={(event) => void send(event)} noValidate>
        <Stack>
          <ProjectChoice
            to="createAddonInstance"
            value={projectId}
            onChange={setProjectId}
            problem={failed["project_id"] ?? (isTried && projectId === null ? "Choose a project." : undefined)}
          />
          <Group grow align="flex-start">
            <TextInput
              label="Name"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={failed["name"] ?? (isTried && name === "" ? "Give a name." : null)}
              autoComplete="off"
              withAsterisk
            />
            <Select
              label="Version of the chart"
              data={[...definition.chart.versions]}
              value={version}
              onChange={(value) => setVersion(value ?? definition.chart.version)}
              error={failed["chart_version"]}
              allowDeselect={false}
            />
          </Group>
          <ValuesForm
            fields={fields}
            typed={typed}
            onChange={setTyped}
            problems={isTried ? { ...valueProblems(failed), ...problems } : {}}
          />
          {change.error ? <FailurePanel error={change.error} /> : null}
          <SameByCommand
            operation="createAddonInstance"
            input={input(shownAddonValues(fields, values))}
            command={`binnacle addons create ${name || "…"} ${definition.name} --project …`}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
