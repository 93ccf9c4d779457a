import { type AddonDefinition, type AddonInstance, type CallOptions, PreconditionFailed } from "@binnacle/client";
import { Button, Code, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { prefixed } from "../api/failure.ts";
import { client } from "../api/session.adapter.ts";
import { OperationForm } from "../components/form.tsx";
import { Section } from "../components/page.tsx";
import { ChangeTable } from "./change-table.tsx";
import { RiskyChange } from "./risky-change.tsx";
import { diffValues } from "./value-diff.ts";
import { fieldsOf, heldSecrets, readValues, shownAddonValues, typedValues, type Values } from "./value-fields.ts";
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

interface EditorProps {
  readonly addon: AddonInstance;
  readonly definition: AddonDefinition;
}

function ValuesEditor({ addon, definition }: EditorProps) {
  const fields = fieldsOf(definition);
  const begun = { values: typedValues(fields, addon.values), notes: "" };
  const read = (typed: typeof begun) => readValues(fields, typed.values, addon.values);
  const shown = (typed: typeof begun) => shownAddonValues(fields, read(typed).values);
  const changesOf = (typed: typeof begun) => diffValues(addon.values, shown(typed));
  const inputOf = ({ notes }: typeof begun, values: Values) => ({
    id: addon.id,
    body: { values, ...(notes ? { notes } : {}) },
  });
  return (
    <OperationForm
      operation="updateAddonInstance"
      values={begun}
      validate={(typed) => prefixed("values", read(typed).problems)}
      input={(typed) => ({ ...inputOf(typed, read(typed).values), $options: () => onlyIfUnchanged(addon) })}
      shownInput={(typed) => inputOf(typed, shown(typed))}
      isReady={(typed) => changesOf(typed).length > 0}
      action="Apply values"
      named={[addon]}
      done={`${addon.name} is being changed.`}
    >
      {({ field, values, set, problemsIn }) => (
        <>
          <ValuesForm
            fields={fields}
            typed={values.values}
            onChange={(typed) => set({ values: typed })}
            problems={problemsIn("values")}
            held={heldSecrets(fields, addon.values)}
          />
          {changesOf(values).length > 0 ? (
            <>
              <ChangeTable changes={changesOf(values)} />
              <TextInput
                label="Notes"
                description="Why, for those who read the revisions later."
                autoComplete="off"
                {...field("notes")}
              />
            </>
          ) : null}
        </>
      )}
    </OperationForm>
  );
}

/** The form shows one revision. A newer one is changed by nobody who has not seen it, also when it comes at this instant. */
async function onlyIfUnchanged({ id, revision_number }: AddonInstance): Promise<CallOptions> {
  const { data, etag } = await client.send("getAddonInstance", { id });
  if (data.revision_number === revision_number) return etag ? { ifMatch: etag } : {};
  const detail = "Nothing was sent. The form shows the newer values as soon as they are read.";
  throw new PreconditionFailed(detail, { operation: "updateAddonInstance" });
}

function VersionEditor({ addon, definition }: EditorProps) {
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
          addon={addon}
        >
          <Text size="sm">
            From {addon.chart_version} to {version}. The values stay as they are.
          </Text>
        </RiskyChange>
      ) : null}
    </Group>
  );
}
