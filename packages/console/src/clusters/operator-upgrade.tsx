import type { Cluster } from "@binnacle/client";
import { Button } from "@mantine/core";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { CopyText } from "../components/copy-text.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { upgradeText } from "./cluster-labels.ts";

export const UPGRADE_CONSEQUENCES = [
  "Apps go on running. Changes wait for the few seconds in which the new pod takes over.",
  "If the new pod is not ready within five minutes, the operator goes back to its present image.",
];

/** How the newest upgrade of the operator stands, and the action that starts one. */
export function OperatorUpgrade({ cluster }: { readonly cluster: Cluster }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const isRunning = cluster.operator_upgrade?.phase === "pending" || cluster.operator_upgrade?.phase === "running";
  const text = upgradeText(cluster.operator_upgrade);
  if (!may("startOperatorUpgrade")) return text;
  return (
    <>
      {text}{" "}
      {cluster.operator_self_upgrade ? (
        <Button
          size="compact-sm"
          variant="default"
          disabled={isRunning || cluster.status !== "connected"}
          onClick={() => setOpen(true)}
        >
          Upgrade…
        </Button>
      ) : (
        <ByHelm clusterId={cluster.id} />
      )}
      {isOpen ? <Confirm cluster={cluster} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ByHelm({ clusterId }: { readonly clusterId: string }) {
  const read = useRead("getInstallInstructions", { id: clusterId });
  if (!read.data) return null;
  return (
    <>
      with Helm, from where it reaches the cluster{" "}
      <CopyText text={read.data.upgrade_command} label="Copy the command that upgrades the operator" />
    </>
  );
}

function Confirm({ cluster, onClose }: { readonly cluster: Cluster; readonly onClose: () => void }) {
  const org = useOrg();
  return (
    <ActionDialog
      onClose={onClose}
      title={`Upgrade the operator of ${cluster.name}`}
      operation="startOperatorUpgrade"
      values={{}}
      input={() => ({
        org_id: org.id,
        body: { cluster_ids: [cluster.id] },
      })}
      action="Upgrade"
      named={[cluster]}
      consequences={UPGRADE_CONSEQUENCES}
    />
  );
}
