import type { AddonDefinition, AddonInstance } from "@binnacle/client";
import { Button, Code, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { client } from "../api/session.adapter.ts";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { Notice } from "../parts/notice.tsx";
import { Section } from "../parts/page.tsx";
import { ChangeTable } from "./change-table.tsx";
import { RiskyChange } from "./risky-change.tsx";
import { diffValues } from "./value-diff.ts";
import { fieldsOf, readValues, shownAddonValues, typedValues, valueProblems } from "./value-fields.ts";
import { ValuesForm } from "./values-form.tsx";

interface Props {
  readonly addon: AddonInstance;
  readonly definition: AddonDefinition | undefined;
  readonly mayChange: boolean;
}

/** The values that were set and the version of the chart, with forms for those who may change them. */
export function AddonValues({ addon, definition, mayChange }: Props) {
  if (!definition || !mayChange) {
    return (
      <Section title="Values">
        <Text size="sm" c="dimmed" mb="xs">
          {mayChange
            ? "The definition has left the catalog, so the values cannot be changed."
            : "These values were set."}
        </Text>
        <Code block>{JSON.stringify(addon.values, null, 2)}</Code>
      </Section>
    );
  }
  return (
    <Stack maw={800}>
      {/* A change by somebody else begins the forms anew. */}
      <Section title="Values">
        <ValuesEditor key={addon.revision_number} addon={addon} definition={definition} />
      </Section>
      <Section title="Version">
        <VersionEditor key={addon.chart_version} addon={addon} definition={definition} />
      </Section>
    </Stack>
  );
}

function ValuesEditor({ addon, definition }: { readonly addon: AddonInstance; readonly definition: AddonDefinition }) {
  const fields = fieldsOf(definition);
  const change = useChange("updateAddonInstance");
  const [typed, setTyped] = useState(() => typedValues(fields, addon.values));
  const [notes, setNotes] = useState("");
  const [isOvertaken, setOvertaken] = useState(false);
  const { values, problems } = readValues(fields, typed, addon.values);
  const changes = diffValues(addon.values, shownAddonValues(fields, values));
  const failed = change.error ? failureView(change.error).fields : {};
  const held = new Set(
    fields.filter(({ path }) => isReference(path, addon.values)).map(({ parameter }) => parameter.name),
  );
  const input = { id: addon.id, body: { values, ...(notes ? { notes } : {}) } };

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (changes.length === 0 || Object.keys(problems).length > 0 || change.isPending) return;
    try {
      // The form shows one revision. A newer one is changed by nobody who has not seen it, also when it comes at this instant.
      const { data, etag } = await client.send("getAddonInstance", { id: addon.id });
      if (data.revision_number !== addon.revision_number) return setOvertaken(true);
      await change.mutateAsync({ ...input, ...(etag ? { $options: { ifMatch: etag } } : {}) });
      notifications.show({ message: `${addon.name} is being changed.`, color: "green" });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <form onSubmit={(event) => void save(event)} noValidate>
      <Stack>
        <ValuesForm
          fields={fields}
          typed={typed}
          onChange={setTyped}
          problems={{ ...valueProblems(failed), ...problems }}
          held={held}
        />
        {changes.length > 0 ? (
          <>
            <ChangeTable changes={changes} />
            <TextInput
              label="Notes"
              description="Why, for those who read the revisions later."
              value={notes}
              onChange={(event) => setNotes(event.currentTarget.value)}
              error={failed["notes"]}
              autoComplete="off"
            />
          </>
        ) : null}
        {isOvertaken ? (
          <Notice tone="warning" title="Somebody else has changed the values">
            Nothing was sent. The form shows the newer values as soon as they are read.
          </Notice>
        ) : null}
        {change.error ? <FailurePanel error={change.error} /> : null}
        <SameByCommand
          operation="updateAddonInstance"
          input={{ ...input, body: { ...input.body, values: shownAddonValues(fields, values) } }}
          command={`binnacle addons update ${addon.name} -f values.yaml`}
        />
        <Group justify="flex-end">
          <Button type="submit" disabled={changes.length === 0} loading={change.isPending}>
            Apply values
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function isReference(path: readonly string[], values: unknown): boolean {
  const value = path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    values,
  );
  return typeof value === "object" && value !== null && "secret_ref" in value;
}

function VersionEditor({ addon, definition }: { readonly addon: AddonInstance; readonly definition: AddonDefinition }) {
  const [version, setVersion] = useState(addon.chart_version);
  const [isOpen, setOpen] = useState(false);
  return (
    <Group align="flex-end">
      <Select
        label="Version of the chart"
        data={[...new Set([...definition.chart.versions, addon.chart_version])]}
        value={version}
        onChange={(value) => setVersion(value ?? addon.chart_version)}
        allowDeselect={false}
      />
      <Button variant="default" disabled={version === addon.chart_version} onClick={() => setOpen(true)}>
        Change version
      </Button>
      {isOpen ? (
        <RiskyChange
          onClose={() => setOpen(false)}
          title={`Change ${addon.name} to ${version}`}
          action="Change version"
          operation="updateAddonInstance"
          input={(confirmed) => ({ id: addon.id, body: { chart_version: version, ...confirmed } })}
          name={addon.name}
          command={`binnacle addons update ${addon.name} --chart-version ${version}`}
        >
          <Text size="sm">
            From {addon.chart_version} to {version}. The values stay as they are.
          </Text>
        </RiskyChange>
      ) : null}
    </Group>
  );
}
