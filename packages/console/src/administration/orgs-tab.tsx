import { commandLine } from "@binnacle/cli/command-line";
import type { Organization } from "@binnacle/client";
import { Code, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { ActionDialog } from "../components/action-dialog.tsx";
import { RowLink } from "../components/links.tsx";
import { type Column, timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";

const COLUMNS: readonly Column<Organization>[] = [
  {
    title: "Name",
    width: "minmax(120px, 1.5fr)",
    render: ({ name, slug }) => <RowLink to={`/o/${slug}/overview`}>{name}</RowLink>,
  },
  { title: "Address", from: "tablet", render: ({ slug }) => <Code>{slug}</Code> },
  {
    title: "Description",
    width: "minmax(120px, 2fr)",
    from: "tablet",
    render: ({ description }) => description ?? "—",
  },
  timeColumn("Created", "created_at"),
];

export function OrgsTab() {
  return (
    <ResourceList
      label="Organizations"
      operation="listOrgs"
      input={{ all: true }}
      columns={COLUMNS}
      empty={
        <EmptyState title="No organizations" command={commandLine("createOrg", { body: { name: "…" } })}>
          An organization is the boundary between tenants: clusters, projects and people belong to one.
        </EmptyState>
      }
      add={{ label: "Create organization", operation: "createOrg", dialog: (close) => <CreateOrg onClose={close} /> }}
    />
  );
}

function CreateOrg({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <ActionDialog
      onClose={onClose}
      title="Create an organization"
      operation="createOrg"
      values={{ name: "", description: "" }}
      input={({ name, description }) => ({ body: { name, ...(description ? { description } : {}) } })}
      action="Create organization"
      isReady={({ name }) => name !== ""}
      consequences={["You become its first administrator."]}
      onDone={({ slug }) => void navigate({ to: `/o/${slug}/members` })}
    >
      {({ field }) => (
        <>
          <TextInput label="Name" withAsterisk data-autofocus {...field("name")} />
          <TextInput label="Description" {...field("description")} />
        </>
      )}
    </ActionDialog>
  );
}
