import type { App } from "@binnacle/client";
import { NumberInput, Select, Text } from "@mantine/core";
import { ActionDialog } from "../components/action-dialog.tsx";
import { addressOf } from "./app-address.ts";
import { replicasOf, scalableComponents } from "./components.ts";

/** Sets the replicas of one workload, in steps people can see before they send them. */
export function ScaleDialog({ app, component, onClose }: { app: App; component?: string; onClose: () => void }) {
  const names = scalableComponents(app.components);
  const specOf = (chosen: string) => app.components.find(({ name }) => name === chosen);
  const presentOf = (chosen: string) => {
    const spec = specOf(chosen);
    return spec ? replicasOf(spec) : 1;
  };
  const first = component ?? names[0] ?? "";
  return (
    <ActionDialog
      onClose={onClose}
      title={`Scale ${app.name}`}
      operation="scaleApp"
      values={{ component_name: first, replicas: presentOf(first) }}
      input={(body) => ({ ...addressOf(app), body })}
      action="Scale"
      isReady={({ component_name, replicas }) =>
        replicas >= 1 && replicas !== presentOf(component_name) && names.includes(component_name)
      }
      done={({ component_name, replicas }) => `${component_name} is being scaled to ${replicas}.`}
    >
      {({ field, set, values: { component_name } }) => {
        const autoscale = specOf(component_name)?.workload_spec?.autoscale;
        return names.length === 0 ? (
          <Text size="sm">No component of the app has a number of replicas that can be set.</Text>
        ) : (
          <>
            <Select
              label="Component"
              data={[...names]}
              allowDeselect={false}
              {...field("component_name")}
              onChange={(name) => name && set({ component_name: name, replicas: presentOf(name) })}
            />
            <NumberInput
              label={autoscale ? "Least replicas" : "Replicas"}
              description={
                autoscale
                  ? `It scales by itself up to ${autoscale.max}; this moves its least number.`
                  : `It has ${presentOf(component_name)} now. To run none, pause the app.`
              }
              min={1}
              max={autoscale?.max ?? 1_000}
              allowDecimal={false}
              data-autofocus
              {...field("replicas")}
            />
          </>
        );
      }}
    </ActionDialog>
  );
}
