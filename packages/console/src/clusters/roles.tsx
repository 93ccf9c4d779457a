import type { Member, RoleBinding } from "@binnacle/client";
import { ActionIcon, Button, Group, Select, Table, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import type { Place } from "../api/access.ts";
import { useRead } from "../api/queries.runner.ts";
import { useMay, useOrg } from "../frame/org.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Section } from "../parts/page.tsx";
import { WideTable } from "../parts/wide-table.tsx";

type Role = RoleBinding["role"];
const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: "Viewer: reads" },
  { value: "editor", label: "Editor: deploys and changes" },
  { value: "admin", label: "Admin: also grants roles and sets policy" },
];

const CALLS = {
  cluster: {
    list: "listClusterRoles",
    grant: "grantClusterRole",
    replace: "replaceClusterRole",
    revoke: "revokeClusterRole",
    words: "on the cluster and on all of its projects",
  },
  project: {
    list: "listProjectRoles",
    grant: "grantProjectRole",
    replace: "replaceProjectRole",
    revoke: "revokeProjectRole",
    words: "on this project alone. Roles on its cluster count here too, and are listed there",
  },
} as const;

interface Props {
  readonly of: "cluster" | "project";
  readonly id: string;
  readonly name: string;
  readonly place: Place;
}

/** Who has a role on a cluster or a project; those who may grant, replace and revoke it. */
export function Roles({ of, id, name, place }: Props) {
  const org = useOrg();
  const may = useMay();
  const calls = CALLS[of];
  const [isGranting, setGranting] = useState(false);
  const [changing, setChanging] = useState<{ readonly binding: RoleBinding; readonly role: Role | null } | null>(null);
  const bindings = useRead(calls.list, { id });
  const members = useRead("listMembers", { id: org.id, items_per_page: 100 });
  const isAdmin = may(calls.grant, place);
  const byId = new Map((members.data?.data ?? []).map((member) => [member.user_id, member]));
  const personOf = (binding: RoleBinding) => byId.get(binding.user_id)?.name ?? binding.user_id;
  const noun = `${of}s`;
  return (
    <Section
      title="Roles"
      actions={
        isAdmin ? (
          <Button size="xs" onClick={() => setGranting(true)}>
            Grant a role
          </Button>
        ) : null
      }
    >
      <Text size="sm" c="dimmed" mb="sm">
        These roles hold {calls.words}. Administrators of the organization need none.
      </Text>
      <Loaded of={bindings}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              title="Nobody has a role here"
              command={`binnacle ${noun} rbac grant ${quoted(name)} --user somebody@example.com --role editor`}
            >
              Grant one to a member of the organization, who then sees this {of} and works on it.
            </EmptyState>
          ) : (
            <WideTable label={"Roles"} minWidth={300}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Person</Table.Th>
                  <Table.Th>Role</Table.Th>
                  <Table.Th visibleFrom="sm">Granted</Table.Th>
                  {isAdmin ? <Table.Th w={48} aria-label="Actions" /> : null}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((binding) => (
                  <Table.Tr key={binding.binding_id}>
                    <Table.Td>
                      {personOf(binding)}
                      <Text size="xs" c="dimmed">
                        {byId.get(binding.user_id)?.email}
                      </Text>
                    </Table.Td>
                    <Table.Td>
                      {isAdmin ? (
                        <Select
                          size="xs"
                          w={130}
                          aria-label={`Role of ${personOf(binding)}`}
                          data={ROLES.map(({ value }) => value)}
                          value={binding.role}
                          allowDeselect={false}
                          onChange={(role) => {
                            if (role && role !== binding.role) setChanging({ binding, role: role as Role });
                          }}
                        />
                      ) : (
                        binding.role
                      )}
                    </Table.Td>
                    <Table.Td visibleFrom="sm">
                      <Moment at={binding.created_at} />
                    </Table.Td>
                    {isAdmin ? (
                      <Table.Td>
                        <Tooltip label="Revoke">
                          <ActionIcon
                            variant="subtle"
                            color="red"
                            aria-label={`Revoke the role of ${personOf(binding)}`}
                            onClick={() => setChanging({ binding, role: null })}
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
      {isAdmin ? (
        <Grant
          of={of}
          id={id}
          name={name}
          opened={isGranting}
          onClose={() => setGranting(false)}
          members={(members.data?.data ?? []).filter(
            ({ user_id }) => !bindings.data?.data.some((each) => each.user_id === user_id),
          )}
        />
      ) : null}
      {changing && changing.role !== null ? (
        <ActionDialog
          opened
          onClose={() => setChanging(null)}
          title={`Make ${personOf(changing.binding)} ${changing.role}?`}
          operation={calls.replace}
          input={{ id, body: { user_id: changing.binding.user_id, role: changing.role } }}
          action="Replace the role"
          command={`binnacle ${noun} rbac replace ${quoted(name)} --user ${changing.binding.user_id} --role ${changing.role}`}
          done="The role is replaced."
          consequences={[`It is ${changing.binding.role} now. The new role counts from the next request on.`]}
        />
      ) : null}
      {changing && changing.role === null ? (
        <ActionDialog
          opened
          onClose={() => setChanging(null)}
          title={`Revoke the role of ${personOf(changing.binding)}?`}
          operation={calls.revoke}
          input={{ id, binding_id: changing.binding.binding_id }}
          action="Revoke the role"
          command={`binnacle ${noun} rbac revoke ${quoted(name)} ${changing.binding.binding_id}`}
          done="The role is revoked."
          consequences={[`They are no longer ${changing.binding.role} here, from their next request on.`]}
        />
      ) : null}
    </Section>
  );
}

function Grant(props: {
  readonly of: "cluster" | "project";
  readonly id: string;
  readonly name: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly members: readonly Member[];
}) {
  const [userId, setUserId] = useState<string | null>(null);
  const [role, setRole] = useState<Role>("viewer");
  return (
    <ActionDialog
      opened={props.opened}
      onClose={props.onClose}
      title={`Grant a role on ${props.name}`}
      operation={CALLS[props.of].grant}
      input={{ id: props.id, body: { user_id: userId ?? "", role } }}
      action="Grant"
      isReady={userId !== null}
      command={`binnacle ${props.of}s rbac grant ${quoted(props.name)} --user ${userId ?? "somebody@example.com"} --role ${role}`}
      done="The role is granted."
      onDone={() => setUserId(null)}
    >
      <Group grow align="flex-start">
        <Select
          label="Member"
          placeholder="Choose a member"
          data={props.members.map(({ user_id, name, email }) => ({ value: user_id, label: `${name} (${email})` }))}
          value={userId}
          onChange={setUserId}
          searchable
          nothingFoundMessage="No other member has this name."
        />
        <Select
          label="Role"
          data={[...ROLES]}
          value={role}
          onChange={(value) => setRole((value as Role | null) ?? role)}
          allowDeselect={false}
        />
      </Group>
    </ActionDialog>
  );
}
