import { Fieldset, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import type { ComponentForm } from "./app-form.ts";
import { AddButton, RemoveButton } from "./row-buttons.tsx";

type Volume = NonNullable<NonNullable<ComponentForm["workload_spec"]>["volumes"]>[number];

const ACCESS_MODES = ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"] as const;

interface Props {
  readonly volumes: readonly Volume[];
  readonly problemAt: (...path: readonly string[]) => string | undefined;
  readonly onChange: (volumes: readonly Volume[]) => void;
}

export function VolumeFields({ volumes, problemAt, onChange }: Props) {
  const replace = (index: number, volume: Volume) =>
    onChange(volumes.map((each, at) => (at === index ? volume : each)));
  return (
    <Fieldset legend="Volumes" p="sm">
      <Stack gap="xs">
        {volumes.map((volume, index) => (
          <VolumeRow
            key={index}
            volume={volume}
            label={`volume ${index + 1}`}
            problemAt={(field) => problemAt(String(index), field)}
            onChange={(changed) => replace(index, changed)}
            onRemove={() => onChange(volumes.filter((_, at) => at !== index))}
          />
        ))}
        <AddButton
          label="Add volume"
          onClick={() =>
            onChange([
              ...volumes,
              { name: volumes.length === 0 ? "data" : `data-${volumes.length + 1}`, mount_path: "/data", size_gb: 1 },
            ])
          }
        />
      </Stack>
    </Fieldset>
  );
}

interface RowProps {
  readonly volume: Volume;
  readonly label: string;
  readonly problemAt: (field: string) => string | undefined;
  readonly onChange: (volume: Volume) => void;
  readonly onRemove: () => void;
}

/** Fields that are left empty are not sent, so that the cluster's defaults hold. */
function VolumeRow({ volume, label, problemAt, onChange, onRemove }: RowProps) {
  const { storage_class, access_mode, ...needed } = volume;
  const classed = storage_class === undefined ? {} : { storage_class };
  const moded = access_mode === undefined ? {} : { access_mode };
  return (
    <Group gap="xs" align="flex-start">
      <TextInput
        aria-label={`Name of ${label}`}
        placeholder="data"
        value={volume.name}
        onChange={(event) => onChange({ ...volume, name: event.currentTarget.value })}
        error={problemAt("name")}
        style={{ flex: "1 1 6rem" }}
      />
      <TextInput
        aria-label={`Path of ${label}`}
        placeholder="/data"
        value={volume.mount_path}
        onChange={(event) => onChange({ ...volume, mount_path: event.currentTarget.value })}
        error={problemAt("mount_path")}
        style={{ flex: "1 1 8rem" }}
        spellCheck={false}
      />
      <NumberInput
        aria-label={`Size of ${label} in GB`}
        suffix=" GB"
        min={1}
        max={65_536}
        allowDecimal={false}
        value={volume.size_gb}
        onChange={(value) => onChange({ ...volume, size_gb: Number(value) })}
        error={problemAt("size_gb")}
        style={{ flex: "1 1 5rem" }}
      />
      <TextInput
        aria-label={`Storage class of ${label}`}
        placeholder="default storage class"
        value={storage_class ?? ""}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...needed, ...(value === "" ? {} : { storage_class: value }), ...moded })
        }
        error={problemAt("storage_class")}
        style={{ flex: "1 1 9rem" }}
        spellCheck={false}
      />
      <Select
        aria-label={`Access mode of ${label}`}
        placeholder={ACCESS_MODES[0]}
        data={[...ACCESS_MODES]}
        clearable
        value={access_mode ?? null}
        onChange={(value) => {
          const mode = ACCESS_MODES.find((each) => each === value);
          onChange({ ...needed, ...classed, ...(mode ? { access_mode: mode } : {}) });
        }}
        error={problemAt("access_mode")}
        style={{ flex: "1 1 9rem" }}
      />
      <RemoveButton label={`Remove ${label}`} onClick={onRemove} />
    </Group>
  );
}
