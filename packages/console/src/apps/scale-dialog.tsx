import type { App } from "@binnacle/client";
import { NumberInput, Select, Text } from "@mantine/core";
import { useState } from "react";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { addressOf, cliName } from "./app-address.ts";
import { replicasOf, scalableComponents } from "./components.ts";

/** Sets the replicas of one workload, in steps people can see before they send them. */
export function ScaleDialog({ app, component, onClose }: { app: App; component?: string; onClose: () => void }) {
  const names = scalableComponents(app.components);
  const [chosen, setChosen] = useState(component ?? names[0] ?? "");
  const [typed, setTyped] = useState<number | string | null>(null);
  const spec = app.components.find(({ name }) => name === chosen);
  const present = spec ? replicasOf(spec) : 1;
  const replicas = typed === null ? present : typed;
  const isReady = typeof replicas === "number" && replicas >= 1 && replicas !== present && names.includes(chosen);
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Scale ${app.name}`}
      operation="scaleApp"
      input={{ ...addressOf(app), body: { component_name: chosen, replicas: Number(replicas) } }}
      action="Scale"
      isReady={isReady}
      command={`binnacle apps scale ${cliName(app)} ${replicas} --component ${chosen}`}
      done={`${chosen} is being scaled to ${replicas}.`}
    >
      {names.length === 0 ? (
        <Text size="sm">No component of the app has a number of replicas that can be set.</Text>
      ) : (
        <>
          <Select
            label="Component"
            data={[...names]}
            value={chosen}
            onChange={(value) => {
              setChosen(value ?? "");
              setTyped(null);
            }}
            allowDeselect={false}
          />
          <NumberInput
            label={spec?.workload_spec?.autoscale ? "Least replicas" : "Replicas"}
            description={
              spec?.workload_spec?.autoscale
                ? `It scales by itself up to ${spec.workload_spec.autoscale.max}; this moves its least number.`
                : `It has ${present} now. To run none, pause the app.`
            }
            min={1}
            max={spec?.workload_spec?.autoscale?.max ?? 1_000}
            allowDecimal={false}
            value={replicas}
            onChange={setTyped}
            data-autofocus
          />
        </>
      )}
    </ActionDialog>
  );
}
