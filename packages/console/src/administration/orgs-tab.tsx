import type { Organization } from "@binnacle/client";
import { Button, Code, Group, Stack, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { RowLink } from "../parts/links.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/page.tsx";

const COLUMNS: readonly Column<Organization>[] = [
  {
    key: "name",
    title: "Name",
    width: "minmax(120px, 1.5fr)",
    render: ({ name, slug }) => <RowLink to={`/o/${slug}/overview`}>{name}</RowLink>,
  },
  {
    key: "slug",
    title: "Address",
    width: "minmax(100px, 1fr)",
    from: "tablet",
    render: ({ slug }) => <Code>{slug}</Code>,
  },
  {
    key: "description",
    title: "Description",
    width: "minmax(120px, 2fr)",
    from: "tablet",
    render: ({ description }) => description ?? "—",
  },
  { key: "created", title: "Created", width: "110px", render: ({ created_at }) => <Moment at={created_at} /> },
];

export function OrgsTab() {
  const [isCreating, setCreating] = useState(false);
  return (
    <Stack>
      <Group justify="flex-end">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Create organization
        </Button>
      </Group>
      <ListTable
        label="Organizations"
        operation="listOrgs"
        input={{ all: true }}
        columns={COLUMNS}
        empty={
          <EmptyState title="No organizations" command="binnacle orgs create …">
            An organization is the boundary between tenants: clusters, projects and people belong to one.
          </EmptyState>
        }
      />
      {isCreating ? <CreateOrg onClose={() => setCreating(false)} /> : null}
    </Stack>
  );
}

function CreateOrg({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title="Create an organization"
      operation="createOrg"
      input={{ body: { name, ...(description ? { description } : {}) } }}
      action="Create organization"
      isReady={name !== ""}
      consequences={["You become its first administrator."]}
      command={`binnacle orgs create "${name || "…"}"`}
      onDone={({ slug }) => void navigate({ to: `/o/${slug}/members` })}
    >
      {(problems) => (
        <Stack gap="sm">
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problems["name"]}
            autoComplete="off"
            withAsterisk
            data-autofocus
          />
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problems["description"]}
            autoComplete="off"
          />
        </Stack>
      )}
    </ActionDialog>
  );
}
