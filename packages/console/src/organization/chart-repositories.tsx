import type { ChartRepository } from "@binnacle/client";
import { ActionIcon, Button, Code, Group, Menu, PasswordInput, Stack, Table, Text, TextInput } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Section } from "../parts/page.tsx";

/** Access to private repositories of Helm charts. There are at most fifty, so they are one table. */
export function ChartRepositories() {
  const org = useOrg();
  const may = useMay();
  const repositories = useRead("listChartRepositories", { id: org.id });
  const [editing, setEditing] = useState<ChartRepository | "new" | null>(null);
  const [deleting, setDeleting] = useState<ChartRepository | null>(null);
  return (
    <Section
      title="Chart repositories"
      actions={
        <Allowed to="createChartRepository">
          <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setEditing("new")}>
            Add repository
          </Button>
        </Allowed>
      }
    >
      <Loaded of={repositories}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No private chart repositories" command="binnacle chart-repositories create …">
              Public repositories need nothing. Add the user and password of a private one, and charts from it can be
              used.
            </EmptyState>
          ) : (
            <Table.ScrollContainer minWidth={520}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Address</Table.Th>
                    <Table.Th>User</Table.Th>
                    <Table.Th>Changed</Table.Th>
                    <Table.Th aria-label="Actions" />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((repository) => (
                    <Table.Tr key={repository.id}>
                      <Table.Td fw={600}>{repository.name}</Table.Td>
                      <Table.Td>
                        <Code style={{ overflowWrap: "anywhere" }}>{repository.url}</Code>
                      </Table.Td>
                      <Table.Td>{repository.username}</Table.Td>
                      <Table.Td>
                        <Moment at={repository.updated_at} />
                      </Table.Td>
                      <Table.Td ta="right">
                        {may("updateChartRepository") ? (
                          <Menu position="bottom-end">
                            <Menu.Target>
                              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${repository.name}`}>
                                <IconDots size={16} aria-hidden />
                              </ActionIcon>
                            </Menu.Target>
                            <Menu.Dropdown>
                              <Menu.Item onClick={() => setEditing(repository)}>Change</Menu.Item>
                              <Menu.Item color="red" onClick={() => setDeleting(repository)}>
                                Delete
                              </Menu.Item>
                            </Menu.Dropdown>
                          </Menu>
                        ) : null}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
      {editing === "new" ? <CreateRepository onClose={() => setEditing(null)} /> : null}
      {editing !== null && editing !== "new" ? (
        <ChangeRepository repository={editing} onClose={() => setEditing(null)} />
      ) : null}
      {deleting ? (
        <ActionDialog
          opened
          onClose={() => setDeleting(null)}
          title={`Delete ${deleting.name}`}
          operation="deleteChartRepository"
          input={{ id: org.id, repository_id: deleting.id }}
          action="Delete repository"
          typeName={deleting.name}
          consequences={[
            "Charts from it can no longer be installed or upgraded, unless it is public.",
            "Charts that are installed stay as they are.",
          ]}
          command={`binnacle chart-repositories delete ${deleting.name} --org ${org.slug}`}
          done={`${deleting.name} is deleted.`}
        />
      ) : null}
    </Section>
  );
}

const EMPTY = { name: "", url: "", username: "", password: "" };
type Typed = Readonly<typeof EMPTY>;

function CreateRepository({ onClose }: { readonly onClose: () => void }) {
  const org = useOrg();
  const [typed, setTyped] = useState<Typed>(EMPTY);
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title="Add a chart repository"
      operation="createChartRepository"
      input={{ id: org.id, body: typed }}
      action="Add repository"
      isReady={Object.values(typed).every((text) => text !== "")}
      command={`binnacle chart-repositories create ${typed.name || "…"} --address ${typed.url || "…"} --username ${typed.username || "…"}`}
      done={`${typed.name} is stored.`}
    >
      {(problems) => <Fields typed={typed} onChange={setTyped} problems={problems} passwordHint="" />}
    </ActionDialog>
  );
}

function ChangeRepository({
  repository,
  onClose,
}: {
  readonly repository: ChartRepository;
  readonly onClose: () => void;
}) {
  const org = useOrg();
  const { name, url, username } = repository;
  const [typed, setTyped] = useState<Typed>({ name, url, username, password: "" });
  const moves = typed.url !== url || typed.username !== username;
  const body = Object.fromEntries(
    Object.entries(typed).filter(
      ([key, text]) => text !== "" && text !== repository[key as "name" | "url" | "username"],
    ),
  );
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Change ${name}`}
      operation="updateChartRepository"
      input={{ id: org.id, repository_id: repository.id, body }}
      action="Save"
      isReady={Object.keys(body).length > 0 && (!moves || typed.password !== "")}
      command={`binnacle chart-repositories update ${name} --org ${org.slug}`}
      done={`${typed.name} is saved.`}
    >
      {(problems) => (
        <>
          <Fields
            typed={typed}
            onChange={setTyped}
            problems={problems}
            passwordHint={moves ? "A new address or user needs it" : "Left empty, it stays"}
          />
          {moves ? (
            <Text size="xs" c="dimmed">
              A stored password is never sent to another address, so it has to be given again.
            </Text>
          ) : null}
        </>
      )}
    </ActionDialog>
  );
}

function Fields(props: {
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
  readonly problems: Readonly<Record<string, string>>;
  readonly passwordHint: string;
}) {
  const { typed, onChange, problems } = props;
  const field = (key: keyof Typed) => ({
    value: typed[key],
    error: problems[key],
    onChange: (event: { currentTarget: HTMLInputElement }) => onChange({ ...typed, [key]: event.currentTarget.value }),
  });
  return (
    <Stack gap="sm">
      <TextInput label="Name" autoComplete="off" withAsterisk {...field("name")} data-autofocus />
      <TextInput
        label="Address"
        description="Of a Helm repository or an OCI registry. The password is presented to this host alone."
        placeholder="https://charts.example.com or oci://registry.example.com/charts"
        autoComplete="off"
        withAsterisk
        {...field("url")}
      />
      <Group grow align="flex-start">
        <TextInput label="User" autoComplete="off" withAsterisk {...field("username")} />
        <PasswordInput
          label="Password"
          placeholder={props.passwordHint}
          autoComplete="new-password"
          {...field("password")}
        />
      </Group>
    </Stack>
  );
}
