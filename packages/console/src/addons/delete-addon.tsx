import type { AddonInstance, DeletionPreview } from "@binnacle/client";
import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Notice } from "../components/notice.tsx";
import { useOrg } from "../frame/org.tsx";
import { deletionLines } from "./deletion-lines.ts";
import { usersOf } from "./value-diff.ts";

/** Deletes an instance after saying what goes with it, as the cluster has it at this moment. */
export function DeleteAddon({ addon, onClose }: { readonly addon: AddonInstance; readonly onClose: () => void }) {
  const org = useOrg();
  const navigate = useNavigate();
  const apps = useAll("listProjectApps", { id: addon.project_id });
  const users = usersOf(apps.data ?? [], addon.name);
  const preview = useRead("previewAddonInstanceDeletion", { id: addon.id });
  return (
    <ActionDialog
      onClose={onClose}
      title={`Delete ${addon.name}`}
      operation="deleteAddonInstance"
      input={{ id: addon.id }}
      action="Delete addon"
      typeName={addon.name}
      isReady={!preview.isPending && !apps.isPending}
      consequences={[
        ...users.map(({ app }) => `App ${app.name} uses it, and loses what it exports.`),
        ...(preview.data ? deletionLines(preview.data) : []),
      ]}
      named={[addon]}
      done={`${addon.name} is deleted.`}
      onDone={() => void navigate({ to: `/o/${org.slug}/addons` })}
    >
      <Loaded of={preview}>{(data) => <Unknown preview={data} />}</Loaded>
    </ActionDialog>
  );
}

function Unknown({ preview }: { readonly preview: DeletionPreview }) {
  if (preview.volumes_known) {
    const isEmpty = preview.volumes.length === 0 && preview.objects.length === 0;
    return (
      <Text size="sm">
        {isEmpty ? "It has nothing on the cluster." : "This happens to what it has on the cluster:"} It cannot be
        brought back.
      </Text>
    );
  }
  return (
    <Notice tone="warning" title="The cluster has not answered">
      {preview.message ?? "What happens to its volumes is not known. There may be more than is listed."}
    </Notice>
  );
}
