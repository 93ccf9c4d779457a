import { Divider, Stack, Textarea } from "@mantine/core";
import { ParameterField } from "../templates/parameter-form.tsx";
import type { Typed } from "../templates/parameters.ts";
import type { ValueField } from "./value-fields.ts";

interface Props {
  readonly fields: readonly ValueField[];
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
  readonly problems: Readonly<Record<string, string>>;
  /** Paths of secrets that are set already and stay when they are left empty. */
  readonly held?: ReadonlySet<string>;
}

/** The fields of an addon's values, in groups. */
export function ValuesForm({ fields, typed, onChange, problems, held }: Props) {
  const groups = [...new Set(fields.map(({ group }) => group))];
  return (
    <Stack gap="md">
      {groups.map((group) => (
        <Stack key={group} gap="sm">
          {group ? <Divider label={group} labelPosition="left" /> : null}
          {fields
            .filter((field) => field.group === group)
            .map((field) => {
              const { name } = field.parameter;
              const change = (value: string | boolean) => onChange({ ...typed, [name]: value });
              const value = typed[name] ?? "";
              return field.isJson ? (
                <Textarea
                  key={name}
                  label={field.label}
                  description={field.parameter.description ?? "As JSON."}
                  value={String(value)}
                  onChange={(event) => change(event.currentTarget.value)}
                  error={problems[name]}
                  autosize
                  minRows={2}
                  maxRows={10}
                  spellCheck={false}
                  styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
                />
              ) : (
                <ParameterField
                  key={name}
                  parameter={field.parameter}
                  label={field.label}
                  value={value}
                  problem={problems[name]}
                  onChange={change}
                  {...secretPlaceholder(field, held)}
                />
              );
            })}
        </Stack>
      ))}
    </Stack>
  );
}

function secretPlaceholder({ parameter }: ValueField, held: ReadonlySet<string> | undefined) {
  if (parameter.type !== "secret") return {};
  return { placeholder: held?.has(parameter.name) ? "Set; left empty, it stays" : "Made up when left empty" };
}
