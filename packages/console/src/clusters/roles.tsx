import type { Member, RoleBinding } from "@binnacle/client";
import { Group, Select, Text } from "@mantine/core";
import type { Place } from "../api/access.ts";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { binnacleOf } from "../components/commands.ts";
import { timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceSection } from "../components/resource-list.tsx";
import { useOrg } from "../frame/org.tsx";

type Role = RoleBinding["role"];
const ROLES: { readonly value: Role; readonly label: string }[] = [
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
    where: "on the cluster and on all of its projects",
  },
  project: {
    list: "listProjectRoles",
    grant: "grantProjectRole",
    replace: "replaceProjectRole",
    revoke: "revokeProjectRole",
    where: "on this project alone. Roles on its cluster count here too, and are listed there",
  },
} as const;

interface Target {
  readonly of: "cluster" | "project";
  readonly id: string;
  readonly name: string;
}

const namedMember = ({ user_id, email }: Member) => ({ id: user_id, name: email });

/** Who has a role on a cluster or a project; those who may grant, replace and revoke it. */
export function Roles({ place, ...target }: Target & { readonly place: Place }) {
  const { of, id, name } = target;
  const calls = CALLS[of];
  const bindings = useRead(calls.list, { id });
  const members = useRead("listMembers", { id: useOrg().id, items_per_page: 100 }).data?.data ?? [];
  const memberOf = (binding: RoleBinding) => members.find(({ user_id }) => user_id === binding.user_id);
  const personOf = (binding: RoleBinding) => memberOf(binding)?.name ?? binding.user_id;
  const hasNone = ({ user_id }: Member) => !bindings.data?.data.some((each) => each.user_id === user_id);
  return (
    <ResourceSection
      label="Roles"
      of={bindings}
      place={place}
      keyOf={(binding) => binding.binding_id}
      nameOf={personOf}
      intro={`These roles hold ${calls.where}. Administrators of the organization need none.`}
      columns={[
        {
          title: "Person",
          render: (binding) => (
            <>
              {personOf(binding)}
              <Text size="xs" c="dimmed">
                {memberOf(binding)?.email}
              </Text>
            </>
          ),
        },
        { title: "Role", render: ({ role }) => role },
        timeColumn("Granted", "created_at", "tablet"),
      ]}
      empty={
        <EmptyState
          title="Nobody has a role here"
          command={binnacleOf(calls.grant, { id: name, body: { user_id: "somebody@example.com", role: "editor" } })}
        >
          Grant one to a member of the organization, who then sees this {of} and works on it.
        </EmptyState>
      }
      add={{
        label: "Grant a role",
        operation: calls.grant,
        dialog: (close) => <Grant {...target} members={members.filter(hasNone)} onClose={close} />,
      }}
      menu={(binding) => [
        {
          label: "Change role",
          operation: calls.replace,
          dialog: (close) => <ChangeRole {...target} binding={binding} member={memberOf(binding)} onClose={close} />,
        },
        {
          label: "Revoke",
          isDangerous: true,
          operation: calls.revoke,
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Revoke the role of ${personOf(binding)}?`}
              operation={calls.revoke}
              input={{ id, binding_id: binding.binding_id }}
              action="Revoke the role"
              named={[target]}
              done="The role is revoked."
              consequences={[`They are no longer ${binding.role} here, from their next request on.`]}
            />
          ),
        },
      ]}
    />
  );
}

function ChangeRole(
  props: Target & { readonly binding: RoleBinding; readonly member: Member | undefined; readonly onClose: () => void },
) {
  const { of, id, binding, member } = props;
  return (
    <ActionDialog
      onClose={props.onClose}
      title={`Role of ${member?.name ?? binding.user_id}`}
      operation={CALLS[of].replace}
      values={{ role: binding.role }}
      input={({ role }) => ({ id, body: { user_id: binding.user_id, role } })}
      action="Replace the role"
      isReady={({ role }) => role !== binding.role}
      named={[props, ...(member ? [namedMember(member)] : [])]}
      done="The role is replaced."
      consequences={[`It is ${binding.role} now. The new role counts from the next request on.`]}
    >
      {({ field }) => <Select label="Role" data={ROLES} allowDeselect={false} {...field("role")} />}
    </ActionDialog>
  );
}

function Grant(props: Target & { readonly members: readonly Member[]; readonly onClose: () => void }) {
  const { of, id, name, members } = props;
  return (
    <ActionDialog
      onClose={props.onClose}
      title={`Grant a role on ${name}`}
      operation={CALLS[of].grant}
      values={{ user_id: null as string | null, role: "viewer" as Role }}
      input={({ user_id, role }) => ({ id, body: { user_id: user_id ?? "", role } })}
      action="Grant"
      isReady={({ user_id }) => user_id !== null}
      named={[props, ...members.map(namedMember)]}
      done="The role is granted."
    >
      {({ field }) => (
        <Group grow align="flex-start">
          <Select
            label="Member"
            placeholder="Choose a member"
            data={members.map((member) => ({ value: member.user_id, label: `${member.name} (${member.email})` }))}
            searchable
            nothingFoundMessage="No other member has this name."
            {...field("user_id")}
          />
          <Select label="Role" data={ROLES} allowDeselect={false} {...field("role")} />
        </Group>
      )}
    </ActionDialog>
  );
}
