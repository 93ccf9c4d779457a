import { commandLine } from "@binnacle/cli/command-line";
import type { App, DeploymentListItem } from "@binnacle/client";
import { Checkbox, Text } from "@mantine/core";
import { useRead } from "../../api/queries.runner.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { addressOf } from "../app-address.ts";
import { deploymentChanges } from "../field-change.ts";
import { FieldChanges } from "../field-changes.tsx";

/** Shows what a rollback changes before it is sent: the difference from the current revision to the old one. */
export function RollbackDialog(props: {
  readonly app: App;
  readonly target: DeploymentListItem;
  readonly onClose: () => void;
}) {
  const { app, target, onClose } = props;
  const newest = useRead("listDeployments", { ...addressOf(app), items_per_page: 1 });
  const current = newest.data?.data[0];
  const diff = useRead(
    "diffDeployments",
    { ...addressOf(app), deployment_id: target.deployment_id, against: current?.deployment_id ?? "" },
    { enabled: current !== undefined },
  );
  return (
    <ActionDialog
      onClose={onClose}
      title={`Roll back ${app.name} to #${target.revision}`}
      operation="rollbackToDeployment"
      values={{ allow_downgrade: false }}
      input={({ allow_downgrade }) => ({
        ...addressOf(app),
        deployment_id: target.deployment_id,
        ...(allow_downgrade ? { body: { allow_downgrade } } : {}),
      })}
      action={`Roll back to #${target.revision}`}
      consequences={[
        "The old specification becomes a new revision.",
        "Secrets are not part of a revision and stay as they are.",
      ]}
      command={({ allow_downgrade }) =>
        commandLine("rollbackApp", { ...addressOf(app), body: { revision: target.revision, allow_downgrade } })
      }
      done={`${app.name} is being rolled back to #${target.revision}.`}
    >
      {({ check }) => (
        <>
          {" "}
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
            {...check("allow_downgrade")}
          />
        </>
      )}
    </ActionDialog>
  );
}
