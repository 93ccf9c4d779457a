import { Accordion, ActionIcon, Badge, Button, Group, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { type AppForm, type ComponentForm, type FormProblem, withComponent } from "./app-form.ts";
import { ComponentFields } from "./component-fields.tsx";

/** The components of an app as a form: the fields that are needed most. All others are in the YAML. */
export function ComponentsForm(props: {
  readonly form: AppForm;
  readonly onChange: (form: AppForm) => void;
  readonly problems: readonly FormProblem[];
  readonly existing: readonly string[];
}) {
  const { form, onChange, problems, existing } = props;
  const [open, setOpen] = useState<string | null>("0");

  function add(): void {
    const usedNames = form.components.map(({ name }) => name);
    const name = ["web", "api", "worker", ...Array.from({ length: 100 }, (_, index) => `part-${index + 1}`)].find(
      (each) => !usedNames.includes(each),
    );
    if (name === undefined) return;
    onChange({ ...form, components: [...form.components, { name, workload_spec: { image: "" } }] });
    setOpen(String(form.components.length));
  }

  return (
    <Stack gap="md">
      <TextInput
        label="Description"
        value={form.description ?? ""}
        onChange={(event) => onChange({ ...form, description: event.currentTarget.value || null })}
        error={problems.find(({ path }) => path[0] === "description")?.message}
      />
      <Accordion variant="contained" value={open} onChange={setOpen} order={2}>
        {form.components.map((component, index) => {
          const own = problems.filter(({ path }) => path[0] === "components" && path[1] === index);
          return (
            <Accordion.Item key={index} value={String(index)}>
              <Group gap={0} wrap="nowrap">
                <Accordion.Control>
                  <Group gap="xs">
                    <Text size="sm" fw={600}>
                      {component.name}
                    </Text>
                    {own.length > 0 ? (
                      <Badge size="sm" color="red" variant="light" tt="none">
                        {own.length === 1 ? "1 problem" : `${own.length} problems`}
                      </Badge>
                    ) : null}
                    {existing.includes(component.name) ? null : (
                      <Badge size="sm" color="gray" variant="light" tt="none">
                        new
                      </Badge>
                    )}
                  </Group>
                </Accordion.Control>
                <Tooltip label={`Remove ${component.name}`}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    mx="xs"
                    aria-label={`Remove ${component.name}`}
                    onClick={() =>
                      onChange({ ...form, components: form.components.filter((_, other) => other !== index) })
                    }
                  >
                    <IconTrash size={16} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              </Group>
              <Accordion.Panel>
                <ComponentFields
                  component={component}
                  isNew={!existing.includes(component.name)}
                  others={form.components.map(({ name }) => name).filter((name) => name !== component.name)}
                  problems={own.map(({ path, message }) => ({ path: path.slice(2), message }))}
                  onChange={(changed: ComponentForm) => onChange(withComponent(form, index, changed))}
                />
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
      <Group>
        <Button size="xs" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>
          Add component
        </Button>
      </Group>
    </Stack>
  );
}
