import { Group, Text } from "@mantine/core";
import { ActionDialog } from "../components/action-dialog.tsx";
import { binnacleOf } from "../components/commands.ts";
import { timeColumn } from "../components/list-table.tsx";
import { Moment } from "../components/moment.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { StatusBadge } from "../status/status-badge.tsx";
import { NewToken } from "./new-token.tsx";

/** The tokens with which programs act in the caller's name. */
export function TokensTab() {
  return (
    <ResourceList
      label="CLI tokens"
      operation="listCliTokens"
      input={{}}
      intro="A token lets a program do in your name what its scopes permit, until it expires or you revoke it."
      nameOf={(token) => token.name}
      columns={[
        {
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
        { title: "Scopes", width: "minmax(100px, 1.6fr)", from: "tablet", render: ({ scopes }) => scopes.join(", ") },
        {
          title: "Works in",
          width: "120px",
          from: "desktop",
          render: ({ org_id, project_id }) => (project_id ? "One project" : org_id ? "One organization" : "Everywhere"),
        },
        {
          title: "Last used",
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
        timeColumn("Expires", "expires_at"),
      ]}
      empty={
        <EmptyState title="No CLI tokens" command={binnacleOf("startDeviceLogin", {})}>
          Create one for a pipeline or a script. For your own terminal, sign in with the command line instead.
        </EmptyState>
      }
      add={{ label: "Create token", operation: "createCliToken", dialog: (close) => <NewToken onClose={close} /> }}
      button={(token) => ({
        label: "Revoke",
        operation: "deleteCliToken",
        dialog: (close) => (
          <ActionDialog
            onClose={close}
            title={`Revoke ${token.name}`}
            operation="deleteCliToken"
            input={{ id: token.id }}
            action="Revoke token"
            consequences={["Programs that use it are refused from the next request on.", "It cannot be brought back."]}
            named={[token]}
            done={`${token.name} is revoked.`}
          />
        ),
      })}
    />
  );
}
