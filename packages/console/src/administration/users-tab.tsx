import type { User } from "@binnacle/client";
import { ActionIcon, Badge, Button, Group, Menu, Select, Stack, Text } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { CreateUser } from "../parts/create-user.tsx";
import { SearchFilter } from "../parts/filters.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { StatusBadge } from "../status/status-badge.tsx";

type Action = "disable" | "enable" | "tier" | "verify";

/** All accounts of the installation. */
export function UsersTab() {
  const [search] = usePageSearch();
  const me = useRead("getMe", {});
  const [isCreating, setCreating] = useState(false);
  const [acting, setActing] = useState<{ readonly user: User; readonly action: Action } | null>(null);
  const columns: readonly Column<User>[] = [
    {
      key: "name",
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
      key: "email",
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
      key: "state",
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
    { key: "tier", title: "Tier", width: "90px", from: "tablet", render: ({ tier }) => tier },
    {
      key: "created",
      title: "Created",
      width: "100px",
      from: "desktop",
      render: ({ created_at }) => <Moment at={created_at} />,
    },
    {
      key: "actions",
      title: "",
      width: "40px",
      render: (user) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${user.username}`}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setActing({ user, action: "tier" })}>Change tier</Menu.Item>
            {user.email_verified ? null : (
              <Menu.Item onClick={() => setActing({ user, action: "verify" })}>Confirm email</Menu.Item>
            )}
            {user.disabled ? (
              <Menu.Item onClick={() => setActing({ user, action: "enable" })}>Enable</Menu.Item>
            ) : user.id === me.data?.id ? null : (
              <Menu.Item color="red" onClick={() => setActing({ user, action: "disable" })}>
                Disable
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
  return (
    <Stack>
      <Group justify="space-between">
        <SearchFilter label="Filter by name or email" />
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Create user
        </Button>
      </Group>
      <ListTable
        label="Users"
        operation="listUsers"
        input={search["q"] ? { search: search["q"] } : {}}
        columns={columns}
        empty={<EmptyState title="No user fits">Create one, or remove the filter.</EmptyState>}
      />
      {isCreating ? <CreateUser onClose={() => setCreating(false)} /> : null}
      {acting ? <UserAction {...acting} onClose={() => setActing(null)} /> : null}
    </Stack>
  );
}

function UserAction({
  user,
  action,
  onClose,
}: {
  readonly user: User;
  readonly action: Action;
  readonly onClose: () => void;
}) {
  if (action === "tier") return <ChangeTier user={user} onClose={onClose} />;
  if (action === "verify")
    return (
      <ActionDialog
        opened
        onClose={onClose}
        title={`Confirm the email of ${user.name}`}
        operation="verifyUserEmail"
        input={{ id: user.id, body: { email: user.email } }}
        action="Confirm email"
        consequences={[
          `You have made sure that ${user.email} belongs to ${user.name}.`,
          "Administrators can then add them to organizations by this address.",
        ]}
        command={`binnacle users verify-email ${user.username}`}
        done="The address is confirmed."
      />
    );
  const isDisabling = action === "disable";
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`${isDisabling ? "Disable" : "Enable"} ${user.name}`}
      operation="setUserDisabled"
      input={{ id: user.id, body: { disabled: isDisabling } }}
      action={isDisabling ? "Disable user" : "Enable user"}
      {...(isDisabling ? { typeName: user.username } : {})}
      consequences={
        isDisabling
          ? [
              "They cannot sign in any more.",
              "Their sessions end and their CLI tokens are revoked, at once and everywhere.",
            ]
          : ["They can sign in again. Sessions and tokens do not come back."]
      }
      command={`binnacle users ${action} ${user.username}`}
      done={`${user.name} is ${isDisabling ? "disabled" : "enabled"}.`}
    />
  );
}

function ChangeTier({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const tiers = useRead("listTiers", {});
  const [tier, setTier] = useState(user.tier);
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Tier of ${user.name}`}
      operation="setUserTier"
      input={{ id: user.id, body: { tier } }}
      action="Change tier"
      isReady={tier !== user.tier}
      command={`binnacle users set-tier ${user.username} ${tier}`}
      done={`${user.name} is in the tier ${tier}.`}
    >
      <Select
        label="Tier"
        description="It says how many requests they may send."
        data={(tiers.data?.data ?? []).map(({ name }) => name)}
        value={tier}
        onChange={(value) => setTier(value ?? user.tier)}
        allowDeselect={false}
      />
    </ActionDialog>
  );
}
