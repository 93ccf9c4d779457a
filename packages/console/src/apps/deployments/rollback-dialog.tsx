import type { App, DeploymentListItem } from "@binnacle/client";
import { Checkbox, Text } from "@mantine/core";
import { useState } from "react";
import { useRead } from "../../api/queries.runner.ts";
import { ActionDialog } from "../../parts/action-dialog.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { addressOf, cliName } from "../app-address.ts";
import { deploymentChanges } from "../field-change.ts";
import { FieldChanges } from "../field-changes.tsx";

/** Shows what a rollback changes before it is sent: the difference from the current revision to the old one. */
export function RollbackDialog(props: {
  readonly app: App;
  readonly target: DeploymentListItem;
  readonly onClose: () => void;
}) {
  const { app, target, onClose } = props;
  const [allowsDowngrade, setAllowsDowngrade] = useState(false);
  const newest = useRead("listDeployments", { ...addressOf(app), items_per_page: 1 });
  const current = newest.data?.data[0];
  const diff = useRead(
    "diffDeployments",
    { ...addressOf(app), deployment_id: target.deployment_id, against: current?.deployment_id ?? "" },
    { enabled: current !== undefined },
  );
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Roll back ${app.name} to #${target.revision}`}
      operation="rollbackToDeployment"
      input={{
        ...addressOf(app),
        deployment_id: target.deployment_id,
        ...(allowsDowngrade ? { body: { allow_downgrade: true } } : {}),
      }}
      action={`Roll back to #${target.revision}`}
      consequences={[
        "The old specification becomes a new revision.",
        "Secrets are no part of a revision and stay as they are.",
      ]}
      command={`binnacle apps rollback ${cliName(app)} --to ${target.revision}${allowsDowngrade ? " --allow-downgrade" : ""}`}
      done={`${app.name} is being rolled back to #${target.revision}.`}
    >
      <Text size="sm" fw={600}>
        What changes
      </Text>
      <Loaded of={diff}>
        {({ changes }) => (
          <FieldChanges of={deploymentChanges(changes)} empty="Nothing: the two revisions are the same." />
        )}
      </Loaded>
      <Checkbox
        label="Allow an older version of an addon that keeps data"
        description="The older version may be unable to read the data."
        checked={allowsDowngrade}
        onChange={(event) => setAllowsDowngrade(event.currentTarget.checked)}
      />
    </ActionDialog>
  );
}
