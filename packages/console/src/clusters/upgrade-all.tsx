import type { Answer } from "@binnacle/client";
import { Button, NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { operatorsText, upgradeAllTexts } from "./cluster-labels.ts";
import { UPGRADE_CONSEQUENCES } from "./operator-upgrade.tsx";

type Preview = Answer<"previewOperatorUpgrade">;

/** Upgrades the operators of all clusters, in batches. It is offered where there is one to upgrade. */
export function UpgradeAll() {
  const org = useOrg();
  const isAllowed = useMay()("startOperatorUpgrade");
  const { data: now } = useRead("previewOperatorUpgrade", { org_id: org.id }, { enabled: isAllowed });
  // What a person confirms stays as it was when the dialog opened.
  const [asked, setAsked] = useState<Preview | null>(null);
  return (
    <>
      {now && now.cluster_count > 0 ? (
        <Button variant="default" onClick={() => setAsked(now)}>
          Upgrade {operatorsText(now.cluster_count)}…
        </Button>
      ) : null}
      {asked ? <Confirm preview={asked} onClose={() => setAsked(null)} /> : null}
    </>
  );
}

function Confirm({ preview, onClose }: { readonly preview: Preview; readonly onClose: () => void }) {
  const org = useOrg();
  const operators = operatorsText(preview.cluster_count);
  return (
    <ActionDialog
      onClose={onClose}
      title={`Upgrade ${operators} to ${preview.to_version}`}
      operation="startOperatorUpgrade"
      values={{ batch_size: 5 }}
      input={(body) => ({ org_id: org.id, body })}
      isReady={({ batch_size }) => typeof batch_size === "number"}
      action={`Upgrade ${operators}`}
      done={`The upgrade of ${operators} has begun.`}
      consequences={[...UPGRADE_CONSEQUENCES, "After an operator that went back or failed, no more are begun."]}
    >
      {({ field }) => (
        <>
          {upgradeAllTexts(preview).map((text) => (
            <Text key={text} size="sm">
              {text}
            </Text>
          ))}
          <NumberInput
            label="How many at a time"
            description="In the order of their names."
            min={1}
            max={50}
            allowDecimal={false}
            maw={240}
            {...field("batch_size")}
          />
        </>
      )}
    </ActionDialog>
  );
}
