import type { RegistrySecret } from "@binnacle/client";
import { ActionIcon, Button, PasswordInput, Stack, Table, TextInput, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Place } from "../api/access.ts";
import { failureView } from "../api/failure.ts";
import { useRead } from "../api/queries.runner.ts";
import { client } from "../api/session.adapter.ts";
import { useMay } from "../frame/org.tsx";
import { ActionDialog, SameByCommand } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Section } from "../parts/page.tsx";
import { WideTable } from "../parts/wide-table.tsx";

const CALLS = {
  cluster: {
    list: "listClusterRegistrySecrets",
    attach: "attachClusterRegistrySecret",
    detach: "detachClusterRegistrySecret",
    words:
      "Every project of the cluster pulls images with these. Without one, only projects with their own pull private images.",
  },
  project: {
    list: "listProjectRegistrySecrets",
    attach: "attachProjectRegistrySecret",
    detach: "detachProjectRegistrySecret",
    words: "This project alone pulls images with these, beside those of its cluster that are in force.",
  },
} as const;

interface Props {
  readonly of: "cluster" | "project";
  readonly id: string;
  readonly place: Place;
}

/** The image pull secrets of a cluster or a project. Passwords are written and never read back. */
export function RegistrySecrets({ of, id, place }: Props) {
  const calls = CALLS[of];
  const isEditor = useMay()(calls.attach, place);
  const [isAttaching, setAttaching] = useState(false);
  const [detaching, setDetaching] = useState<RegistrySecret | null>(null);
  const secrets = useRead(calls.list, { id });
  return (
    <Section
      title={of === "cluster" ? "Registry secrets" : "Registry secrets of the project"}
      actions={
        isEditor ? (
          <Button size="xs" onClick={() => setAttaching(true)}>
            Attach a secret
          </Button>
        ) : null
      }
    >
      <Loaded of={secrets}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No registry secrets" command={`binnacle registry-secrets ${of} attach ghcr`}>
              {calls.words}
            </EmptyState>
          ) : (
            <WideTable label={"Registry secrets"} minWidth={300}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Name</Table.Th>
                  <Table.Th>Registry</Table.Th>
                  <Table.Th visibleFrom="sm">User</Table.Th>
                  <Table.Th visibleFrom="sm">Changed</Table.Th>
                  {isEditor ? <Table.Th w={48} aria-label="Actions" /> : null}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((secret) => (
                  <Table.Tr key={secret.id}>
                    <Table.Td>{secret.name}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{secret.server_url}</Table.Td>
                    <Table.Td visibleFrom="sm">{secret.username}</Table.Td>
                    <Table.Td visibleFrom="sm">
                      <Moment at={secret.updated_at} />
                    </Table.Td>
                    {isEditor ? (
                      <Table.Td>
                        <Tooltip label="Remove">
                          <ActionIcon
                            variant="subtle"
                            color="red"
                            aria-label={`Remove ${secret.name}`}
                            onClick={() => setDetaching(secret)}
                          >
                            <IconTrash size={16} aria-hidden />
                          </ActionIcon>
                        </Tooltip>
                      </Table.Td>
                    ) : null}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </WideTable>
          )
        }
      </Loaded>
      {isAttaching ? <Attach of={of} id={id} onClose={() => setAttaching(false)} /> : null}
      {detaching ? (
        <ActionDialog
          opened
          onClose={() => setDetaching(null)}
          title={`Remove ${detaching.name}?`}
          operation={calls.detach}
          input={{ id, secret_id: detaching.id }}
          action="Remove"
          typeName={detaching.name}
          command={`binnacle registry-secrets ${of} detach ${detaching.id}`}
          done="The secret is removed."
          consequences={[
            `Images of ${detaching.server_url} can no longer be pulled with it.`,
            "Pods that run go on; new pods, and pods that move to another node, may fail to start.",
          ]}
        />
      ) : null}
    </Section>
  );
}

/** The password goes from the input to the request and is kept nowhere else. */
function Attach({ of, id, onClose }: { readonly of: Props["of"]; readonly id: string; readonly onClose: () => void }) {
  const cache = useQueryClient();
  const [body, setBody] = useState({ name: "", server_url: "", username: "", password: "" });
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fields = error ? failureView(error).fields : {};
  const isAtField = Object.keys(fields).some((key) => key in body);
  const set = (key: keyof typeof body) => (event: { currentTarget: { value: string } }) =>
    setBody({ ...body, [key]: event.currentTarget.value });

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    setError(null);
    try {
      await client.call(CALLS[of].attach, { id, body });
      notifications.show({ message: "The secret is attached.", color: "green" });
      onClose();
    } catch (failure) {
      setError(failure);
      setSending(false);
    } finally {
      void cache.invalidateQueries();
    }
  }

  return (
    <Dialog opened onClose={onClose} title="Attach a registry secret" size="lg">
      <form onSubmit={(event) => void send(event)} autoComplete="off">
        <Stack>
          <TextInput
            label="Name"
            placeholder="ghcr"
            value={body.name}
            onChange={set("name")}
            error={fields["name"]}
            required
            data-autofocus
          />
          <TextInput
            label="Registry"
            placeholder="ghcr.io"
            value={body.server_url}
            onChange={set("server_url")}
            error={fields["server_url"]}
            required
          />
          <TextInput
            label="User"
            value={body.username}
            onChange={set("username")}
            error={fields["username"]}
            autoComplete="off"
            required
          />
          <PasswordInput
            label="Password or token"
            value={body.password}
            onChange={set("password")}
            error={fields["password"]}
            autoComplete="new-password"
            required
          />
          {error && !isAtField ? <FailurePanel error={error} /> : null}
          <SameByCommand
            operation={CALLS[of].attach}
            input={{ id, body }}
            command={`binnacle registry-secrets ${of} attach ${quoted(body.name || "ghcr")} --server ${quoted(body.server_url)} --username ${quoted(body.username)} --password`}
          />
          <Button type="submit" loading={isSending} style={{ alignSelf: "flex-end" }}>
            Attach
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}
