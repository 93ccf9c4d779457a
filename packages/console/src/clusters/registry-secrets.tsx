import { PasswordInput, TextInput } from "@mantine/core";
import type { Place } from "../api/access.ts";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { binnacleOf } from "../components/commands.ts";
import { timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceSection } from "../components/resource-list.tsx";

const CALLS = {
  cluster: {
    list: "listClusterRegistrySecrets",
    attach: "attachClusterRegistrySecret",
    detach: "detachClusterRegistrySecret",
    title: "Registry secrets",
    purpose:
      "Every project of the cluster pulls images with these. Without one, only projects with their own pull private images.",
  },
  project: {
    list: "listProjectRegistrySecrets",
    attach: "attachProjectRegistrySecret",
    detach: "detachProjectRegistrySecret",
    title: "Registry secrets of the project",
    purpose: "This project alone pulls images with these, beside those of its cluster that are in force.",
  },
} as const;

interface Target {
  readonly of: "cluster" | "project";
  readonly id: string;
  readonly name: string;
}

/** The image pull secrets of a cluster or a project. Passwords are written and never read back. */
export function RegistrySecrets({ place, ...target }: Target & { readonly place: Place }) {
  const { of, id, name } = target;
  const calls = CALLS[of];
  return (
    <ResourceSection
      label={calls.title}
      of={useRead(calls.list, { id })}
      place={place}
      keyOf={(secret) => secret.id}
      nameOf={(secret) => secret.name}
      columns={[
        { title: "Name", render: ({ name }) => name },
        { title: "Registry", render: ({ server_url }) => server_url },
        { title: "User", from: "tablet", render: ({ username }) => username },
        timeColumn("Changed", "updated_at", "tablet"),
      ]}
      empty={
        <EmptyState
          title="No registry secrets"
          command={binnacleOf(calls.attach, { id: name, body: { name: "ghcr" } })}
        >
          {calls.purpose}
        </EmptyState>
      }
      add={{
        label: "Attach a secret",
        operation: calls.attach,
        dialog: (close) => <Attach target={target} onClose={close} />,
      }}
      button={(secret) => ({
        label: "Remove",
        operation: calls.detach,
        dialog: (close) => (
          <ActionDialog
            onClose={close}
            title={`Remove ${secret.name}?`}
            operation={calls.detach}
            input={{ id, secret_id: secret.id }}
            action="Remove"
            typeName={secret.name}
            named={[target, secret]}
            done="The secret is removed."
            consequences={[
              `Images of ${secret.server_url} can no longer be pulled with it.`,
              "Pods that run go on; new pods, and pods that move to another node, may fail to start.",
            ]}
          />
        ),
      })}
    />
  );
}

function Attach({ target, onClose }: { readonly target: Target; readonly onClose: () => void }) {
  return (
    <ActionDialog
      onClose={onClose}
      title="Attach a registry secret"
      operation={CALLS[target.of].attach}
      values={{ name: "", server_url: "", username: "", password: "" }}
      input={(body) => ({ id: target.id, body })}
      action="Attach"
      done="The secret is attached."
      named={[target]}
    >
      {({ field }) => (
        <>
          <TextInput label="Name" placeholder="ghcr" required data-autofocus {...field("name")} />
          <TextInput label="Registry" placeholder="ghcr.io" required {...field("server_url")} />
          <TextInput label="User" required {...field("username")} />
          <PasswordInput label="Password or token" required {...field("password")} />
        </>
      )}
    </ActionDialog>
  );
}
