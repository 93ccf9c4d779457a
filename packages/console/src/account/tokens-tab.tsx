import type { CliToken } from "@binnacle/client";
import { Button, Group, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/page.tsx";
import { StatusBadge } from "../status/status-badge.tsx";
import { NewToken } from "./new-token.tsx";

/** The tokens with which programs act in the caller's name. */
export function TokensTab() {
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<CliToken | null>(null);
  const columns: readonly Column<CliToken>[] = [
    {
      key: "name",
      title: "Name",
      width: "minmax(0, 1.4fr)",
      render: ({ name, expires_soon }) => (
        <Group gap={6} wrap="nowrap" miw={0}>
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
          {expires_soon ? <StatusBadge status={{ tone: "warning", word: "Expires soon" }} size="sm" /> : null}
        </Group>
      ),
    },
    {
      key: "scopes",
      title: "Scopes",
      width: "minmax(100px, 1.6fr)",
      from: "tablet",
      render: ({ scopes }) => scopes.join(", "),
    },
    {
      key: "place",
      title: "Works in",
      width: "120px",
      from: "desktop",
      render: ({ org_id, project_id }) => (project_id ? "One project" : org_id ? "One organization" : "Everywhere"),
    },
    {
      key: "used",
      title: "Last used",
      width: "minmax(110px, 1fr)",
      from: "tablet",
      render: ({ last_used_at, last_used_address }) =>
        last_used_at ? (
          <Text size="sm" truncate component="span">
            <Moment at={last_used_at} /> {last_used_address ? `from ${last_used_address}` : ""}
          </Text>
        ) : (
          "Never"
        ),
    },
    { key: "expires", title: "Expires", width: "80px", render: ({ expires_at }) => <Moment at={expires_at} /> },
    {
      key: "revoke",
      title: "",
      width: "84px",
      render: (token) => (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setRevoking(token)}
          aria-label={`Revoke ${token.name}`}
        >
          Revoke
        </Button>
      ),
    },
  ];
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={640}>
          A token lets a program do in your name what its scopes permit, until it expires or you revoke it.
        </Text>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Create token
        </Button>
      </Group>
      <ListTable
        label="CLI tokens"
        operation="listCliTokens"
        input={{}}
        columns={columns}
        empty={
          <EmptyState title="No CLI tokens" command="binnacle login">
            Create one for a pipeline or a script. For your own terminal, sign in with the command line instead.
          </EmptyState>
        }
      />
      {isCreating ? <NewToken onClose={() => setCreating(false)} /> : null}
      {revoking ? (
        <ActionDialog
          opened
          onClose={() => setRevoking(null)}
          title={`Revoke ${revoking.name}`}
          operation="deleteCliToken"
          input={{ id: revoking.id }}
          action="Revoke token"
          consequences={["Programs that use it are refused from the next request on.", "It cannot be brought back."]}
          command={`binnacle tokens delete ${revoking.id}`}
          done={`${revoking.name} is revoked.`}
        />
      ) : null}
    </Stack>
  );
}
