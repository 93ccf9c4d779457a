import {
  Fieldset,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from "@mantine/core";
import type { ChangeEvent } from "react";
import { type ComponentForm, type FormProblem, fieldsBeyondForm, withWorkloadField } from "./app-form.ts";
import { AddButton, RemoveButton } from "./row-buttons.tsx";
import { VolumeFields } from "./volume-fields.tsx";

type Workload = NonNullable<ComponentForm["workload_spec"]>;

interface Props {
  readonly component: ComponentForm;
  readonly isNew: boolean;
  readonly others: readonly string[];
  /** By paths in the component. */
  readonly problems: readonly FormProblem[];
  readonly onChange: (component: ComponentForm) => void;
}

const KINDS = ["deployment", "statefulset", "daemonset", "job", "cronjob"];

export function ComponentFields(props: Props) {
  const { component, others, onChange } = props;
  const beyond = fieldsBeyondForm(component);
  const problemAt = (...path: readonly string[]) =>
    props.problems.find((problem) => path.every((step, index) => String(problem.path[index]) === step))?.message;
  return (
    <Stack gap="sm">
      {props.isNew ? (
        <TextInput
          label="Name"
          value={component.name}
          onChange={(event) => onChange({ ...component, name: event.currentTarget.value })}
          error={problemAt("name")}
        />
      ) : null}
      {component.workload_spec ? (
        <WorkloadFields
          spec={component.workload_spec}
          problemAt={(...path) => problemAt("workload_spec", ...path)}
          set={(field, value) => onChange(withWorkloadField(component, field, value))}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {component.chart_spec ? "A chart" : "An addon"}: its fields are edited in the YAML.
        </Text>
      )}
      <MultiSelect
        label="Starts after"
        data={[...others]}
        value={[...(component.depends_on ?? [])]}
        onChange={(depends_on) => {
          const { depends_on: _before, ...rest } = component;
          onChange(depends_on.length > 0 || component.depends_on ? { ...component, depends_on } : rest);
        }}
        error={problemAt("depends_on")}
      />
      {beyond.length > 0 ? (
        <Text size="xs" c="dimmed">
          Also set, in the YAML: {beyond.join(", ")}.
        </Text>
      ) : null}
    </Stack>
  );
}

interface WorkloadProps {
  readonly spec: Workload;
  readonly problemAt: (...path: readonly string[]) => string | undefined;
  readonly set: (field: keyof Workload, value: unknown) => void;
}

function WorkloadFields({ spec, problemAt, set }: WorkloadProps) {
  const kind = spec.kind ?? "deployment";
  const text = (field: "image" | "schedule") => ({
    value: spec[field] ?? "",
    onChange: (event: ChangeEvent<HTMLInputElement>) => set(field, event.currentTarget.value || undefined),
    error: problemAt(field),
  });
  return (
    <>
      <TextInput label="Image" placeholder="nginx:1.29" spellCheck={false} {...text("image")} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Kind"
          data={KINDS}
          value={kind}
          onChange={(value) => set("kind", value ?? undefined)}
          allowDeselect={false}
          error={problemAt("kind")}
        />
        {kind === "cronjob" ? (
          <TextInput label="Schedule" placeholder="0 3 * * *" {...text("schedule")} />
        ) : (
          <NumberInput
            label="Replicas"
            placeholder="as it is"
            min={1}
            allowDecimal={false}
            disabled={kind === "daemonset" || spec.autoscale !== undefined}
            value={spec.replicas ?? ""}
            onChange={(value) => set("replicas", typeof value === "number" ? value : undefined)}
            error={problemAt("replicas")}
          />
        )}
      </SimpleGrid>
      <Ports spec={spec} problemAt={problemAt} set={set} />
      <Env spec={spec} problemAt={problemAt} set={set} />
      <Resources spec={spec} problemAt={problemAt} set={set} />
      {kind === "daemonset" ? null : (
        <VolumeFields
          volumes={spec.volumes ?? []}
          problemAt={(...path) => problemAt("volumes", ...path)}
          onChange={(volumes) => set("volumes", volumes.length > 0 || spec.volumes ? volumes : undefined)}
        />
      )}
      <Ingress spec={spec} problemAt={problemAt} set={set} />
    </>
  );
}

function Ports({ spec, problemAt, set }: WorkloadProps) {
  const ports = spec.ports ?? [];
  const put = (next: typeof ports) => set("ports", next.length > 0 || spec.ports ? next : undefined);
  const change = (index: number, changes: object) =>
    put(ports.map((port, at) => (at === index ? { ...port, ...changes } : port)));
  return (
    <Fieldset legend="Ports" p="sm">
      <Stack gap="xs">
        {ports.map((port, index) => (
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Name of port ${index + 1}`}
              placeholder="http"
              value={port.name}
              onChange={(event) => change(index, { name: event.currentTarget.value })}
              error={problemAt("ports", String(index), "name")}
              style={{ flex: 1 }}
            />
            <NumberInput
              aria-label={`Number of port ${index + 1}`}
              min={1}
              max={65_535}
              allowDecimal={false}
              value={port.port}
              onChange={(value) => change(index, { port: Number(value) })}
              error={problemAt("ports", String(index), "port")}
              style={{ flex: 1 }}
            />
            <RemoveButton
              label={`Remove port ${index + 1}`}
              onClick={() => put(ports.filter((_, at) => at !== index))}
            />
          </Group>
        ))}
        <AddButton
          label="Add port"
          onClick={() =>
            put([...ports, { name: ports.length === 0 ? "http" : `port-${ports.length + 1}`, port: 8080 }])
          }
        />
      </Stack>
    </Fieldset>
  );
}

function Env({ spec, problemAt, set }: WorkloadProps) {
  const env = spec.env ?? [];
  const put = (next: typeof env) => set("env", next.length > 0 || spec.env ? next : undefined);
  const change = (index: number, changes: object) =>
    put(env.map((variable, at) => (at === index ? { ...variable, ...changes } : variable)));
  return (
    <Fieldset legend="Variables" p="sm">
      <Stack gap="xs">
        {env.map((variable, index) => (
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Name of variable ${index + 1}`}
              placeholder="LOG_LEVEL"
              value={variable.name}
              onChange={(event) => change(index, { name: event.currentTarget.value })}
              error={problemAt("env", String(index))}
              style={{ flex: 1 }}
              spellCheck={false}
            />
            {variable.export_ref ? (
              <Text size="sm" c="dimmed" style={{ flex: 1, overflowWrap: "anywhere" }} pt={8}>
                from {variable.export_ref.component}: {variable.export_ref.key}
              </Text>
            ) : (
              <TextInput
                aria-label={`Value of ${variable.name || `variable ${index + 1}`}`}
                value={variable.value ?? ""}
                onChange={(event) => change(index, { value: event.currentTarget.value })}
                style={{ flex: 1 }}
                spellCheck={false}
              />
            )}
            <RemoveButton
              label={`Remove ${variable.name || `variable ${index + 1}`}`}
              onClick={() => put(env.filter((_, at) => at !== index))}
            />
          </Group>
        ))}
        <Group gap="sm">
          <AddButton label="Add variable" onClick={() => put([...env, { name: "", value: "" }])} />
          <Text size="xs" c="dimmed">
            Secrets have a tab of their own.
          </Text>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function Resources({ spec, problemAt, set }: WorkloadProps) {
  const put = (of: "requests" | "limits", what: "cpu" | "memory", value: string) => {
    const { [what]: _old, ...rest } = spec.resources?.[of] ?? {};
    set("resources", { ...spec.resources, [of]: { ...rest, ...(value ? { [what]: value } : {}) } });
  };
  const field = (of: "requests" | "limits", what: "cpu" | "memory", label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={spec.resources?.[of]?.[what] ?? ""}
      onChange={(event) => put(of, what, event.currentTarget.value)}
      error={problemAt("resources", of, what)}
    />
  );
  return (
    <SimpleGrid cols={2} spacing="xs">
      {field("requests", "cpu", "CPU request", "100m")}
      {field("limits", "cpu", "CPU limit", "1")}
      {field("requests", "memory", "Memory request", "128Mi")}
      {field("limits", "memory", "Memory limit", "512Mi")}
    </SimpleGrid>
  );
}

function Ingress({ spec, problemAt, set }: WorkloadProps) {
  const { ingress } = spec;
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        label="Public host"
        placeholder="shop.example.com"
        value={ingress?.host ?? ""}
        onChange={(event) => {
          const host = event.currentTarget.value;
          set("ingress", host === "" ? undefined : { ...ingress, host });
        }}
        error={problemAt("ingress", "host") ?? (problemAt("ingress", "class") ? undefined : problemAt("ingress"))}
        style={{ flex: 1 }}
      />
      <TextInput
        label="Ingress class"
        placeholder="the default one"
        disabled={!ingress}
        value={ingress?.class ?? ""}
        onChange={(event) => {
          const { class: _before, ...rest } = ingress ?? { host: "" };
          const name = event.currentTarget.value;
          set("ingress", name === "" ? rest : { ...rest, class: name });
        }}
        error={problemAt("ingress", "class")}
        spellCheck={false}
      />
      <Switch
        label="TLS"
        mb={8}
        disabled={!ingress}
        checked={ingress?.tls ?? false}
        onChange={(event) => set("ingress", { ...ingress, tls: event.currentTarget.checked })}
      />
    </Group>
  );
}
