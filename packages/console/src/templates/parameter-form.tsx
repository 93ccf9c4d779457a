import type { TemplateParameter } from "@binnacle/client";
import { NumberInput, PasswordInput, Select, Stack, Switch, TextInput } from "@mantine/core";
import { choicesOfParameter, controlOf, isNeeded, placeholderOf, type Typed } from "./parameters.ts";

interface Props {
  readonly parameters: readonly TemplateParameter[];
  /** Begins with `typedDefaults(parameters)`; `fill(parameters, typed)` reads it. */
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
  /** Messages by the name of the parameter. */
  readonly problems?: Readonly<Record<string, string>>;
}

/** The fields of a template's parameters. */
export function ParameterForm({ parameters, typed, onChange, problems = {} }: Props) {
  return (
    <Stack gap="md">
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={typed[parameter.name] ?? ""}
          problem={problems[parameter.name]}
          onChange={(value) => onChange({ ...typed, [parameter.name]: value })}
        />
      ))}
    </Stack>
  );
}

/** The field of one parameter. */
export function ParameterField(props: {
  readonly parameter: TemplateParameter;
  readonly value: string | boolean;
  readonly problem: string | undefined;
  readonly onChange: (value: string | boolean) => void;
  /** The name of the parameter unless given. */
  readonly label?: string;
  readonly placeholder?: string;
}) {
  const { parameter, value, problem, onChange, label = parameter.name } = props;
  const placeholder = props.placeholder ?? placeholderOf(parameter);
  const common = {
    label,
    description: parameter.description,
    error: problem,
    withAsterisk: isNeeded(parameter),
    name: parameter.name,
  };
  const text = String(value);
  switch (controlOf(parameter)) {
    case "switch":
      return (
        <Switch
          label={label}
          description={parameter.description}
          error={problem}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={choicesOfParameter(parameter)}
          value={text === "" ? null : text}
          onChange={(chosen) => onChange(chosen ?? "")}
          clearable={!isNeeded(parameter)}
          placeholder={placeholder}
        />
      );
    case "number":
      return (
        <NumberInput
          {...common}
          value={text}
          onChange={(number) => onChange(String(number))}
          allowDecimal={parameter.type === "number"}
          placeholder={placeholder}
          maw={260}
        />
      );
    case "secret":
      return (
        <PasswordInput
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          placeholder={placeholder}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": `Show ${label}` }}
        />
      );
    case "text":
      return (
        <TextInput
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
        />
      );
  }
}
