import type { User } from "@binnacle/client";
import { Badge, Group, Select, Text } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { CreateUser } from "../components/create-user.tsx";
import { SearchFilter } from "../components/filters.tsx";
import { type Column, timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { StatusBadge } from "../status/status-badge.tsx";

const COLUMNS: readonly Column<User>[] = [
  {
    title: "Name",
    width: "minmax(0, 1.5fr)",
    render: (user) => (
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} truncate>
          {user.name}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {user.username}
        </Text>
      </div>
    ),
  },
  {
    title: "Email",
    width: "minmax(140px, 2fr)",
    from: "tablet",
    render: ({ email, email_verified }) => (
      <Group gap={6} wrap="nowrap" miw={0}>
        <Text size="sm" truncate>
          {email}
        </Text>
        {email_verified ? null : <StatusBadge status={{ tone: "unknown", word: "Not confirmed" }} size="sm" />}
      </Group>
    ),
  },
  {
    title: "State",
    width: "110px",
    render: ({ disabled, is_superuser }) =>
      disabled ? (
        <StatusBadge status={{ tone: "bad", word: "Disabled" }} />
      ) : is_superuser ? (
        <Badge variant="light" tt="none" radius="sm">
          Superuser
        </Badge>
      ) : (
        "Active"
      ),
  },
  { title: "Tier", width: "90px", from: "tablet", render: ({ tier }) => tier },
  timeColumn("Created", "created_at", "desktop"),
];

/** All accounts of the installation. */
export function UsersTab() {
  const [search] = usePageSearch();
  const me = useRead("getMe", {});
  return (
    <ResourceList
      label="Users"
      operation="listUsers"
      input={search["q"] ? { search: search["q"] } : {}}
      intro={<SearchFilter label="Filter by name or email" />}
      nameOf={(user) => user.username}
      columns={COLUMNS}
      empty={<EmptyState title="No user fits">Create one, or remove the filter.</EmptyState>}
      add={{ label: "Create user", operation: "createUser", dialog: (close) => <CreateUser onClose={close} /> }}
      menu={(user) => [
        {
          label: "Change tier",
          operation: "setUserTier",
          dialog: (close) => <ChangeTier user={user} onClose={close} />,
        },
        user.email_verified
          ? null
          : {
              label: "Confirm email",
              operation: "verifyUserEmail",
              dialog: (close) => <ConfirmEmail user={user} onClose={close} />,
            },
        user.disabled || user.id !== me.data?.id
          ? {
              label: user.disabled ? "Enable" : "Disable",
              isDangerous: !user.disabled,
              operation: "setUserDisabled",
              dialog: (close) => <SetDisabled user={user} onClose={close} />,
            }
          : null,
      ]}
    />
  );
}

interface Props {
  readonly user: User;
  readonly onClose: () => void;
}

const ConfirmEmail = ({ user, onClose }: Props) => (
  <ActionDialog
    onClose={onClose}
    title={`Confirm the email of ${user.name}`}
    operation="verifyUserEmail"
    input={{ id: user.id, body: { email: user.email } }}
    action="Confirm email"
    consequences={[
      `You have made sure that ${user.email} belongs to ${user.name}.`,
      "Administrators can then add them to organizations by this address.",
    ]}
    named={[{ id: user.id, name: user.username }]}
    done="The address is confirmed."
  />
);

function SetDisabled({ user, onClose }: Props) {
  const isDisabling = !user.disabled;
  return (
    <ActionDialog
      onClose={onClose}
      title={`${isDisabling ? "Disable" : "Enable"} ${user.name}`}
      operation="setUserDisabled"
      input={{ id: user.id, body: { disabled: isDisabling } }}
      action={isDisabling ? "Disable user" : "Enable user"}
      typeName={isDisabling ? user.username : undefined}
      consequences={
        isDisabling
          ? [
              "They cannot sign in any more.",
              "Their sessions end and their CLI tokens are revoked, at once and everywhere.",
            ]
          : ["They can sign in again. Sessions and tokens do not come back."]
      }
      named={[{ id: user.id, name: user.username }]}
      done={`${user.name} is ${isDisabling ? "disabled" : "enabled"}.`}
    />
  );
}

function ChangeTier({ user, onClose }: Props) {
  const tiers = useRead("listTiers", {});
  return (
    <ActionDialog
      onClose={onClose}
      title={`Tier of ${user.name}`}
      operation="setUserTier"
      values={{ tier: user.tier }}
      input={(body) => ({ id: user.id, body })}
      action="Change tier"
      isReady={({ tier }) => tier !== user.tier}
      named={[{ id: user.id, name: user.username }]}
      done={({ tier }) => `${user.name} is in the tier ${tier}.`}
    >
      {({ field }) => (
        <Select
          label="Tier"
          description="It says how many requests they may send."
          data={(tiers.data?.data ?? []).map(({ name }) => name)}
          allowDeselect={false}
          {...field("tier")}
        />
      )}
    </ActionDialog>
  );
}
