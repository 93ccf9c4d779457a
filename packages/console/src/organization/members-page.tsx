import type { Member } from "@binnacle/client";
import { ActionIcon, Badge, Button, Group, Menu, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { CreateUser } from "../parts/create-user.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Page } from "../parts/page.tsx";
import { PageTabs } from "../parts/page-tabs.tsx";
import { RoleMatrix } from "./role-matrix.tsx";

type Role = Member["role"];
const ROLES = [
  { value: "member", label: "Member: sees the organization, and has the roles that are granted" },
  { value: "admin", label: "Administrator: may do everything in the organization" },
];

/** The people of the organization. Administrators also see who has which role where. */
export function MembersPage() {
  const may = useMay();
  /** The address that the dialog begins with; null while it is closed. */
  const [adding, setAdding] = useState<string | null>(null);
  const [isCreating, setCreating] = useState(false);
  const seesMatrix = may("getRoleMatrix");
  const list = <MembersList onAdd={() => setAdding("")} />;
  return (
    <Page
      title="Members"
      actions={
        <Group gap="xs">
          <Allowed to="createUser">
            <Button variant="default" onClick={() => setCreating(true)}>
              Create user
            </Button>
          </Allowed>
          <Allowed to="addMember">
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding("")}>
              Add member
            </Button>
          </Allowed>
        </Group>
      }
    >
      {seesMatrix ? (
        <PageTabs
          tabs={[
            { key: "members", label: "Members", render: () => list },
            { key: "access", label: "Access", render: () => <RoleMatrix /> },
          ]}
        />
      ) : (
        list
      )}
      {/* A new account is a member of nothing, so the next step is offered at once. */}
      {isCreating ? <CreateUser onClose={() => setCreating(false)} onDone={setAdding} /> : null}
      {adding === null ? null : <AddMember email={adding} onClose={() => setAdding(null)} />}
    </Page>
  );
}

function MembersList({ onAdd }: { readonly onAdd: () => void }) {
  const org = useOrg();
  const may = useMay();
  const me = useRead("getMe", {});
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const columns: readonly Column<Member>[] = [
    {
      key: "name",
      title: "Name",
      width: "minmax(0, 1.5fr)",
      render: ({ name, user_id }) => (
        <Text size="sm" fw={600} truncate component="span">
          {name}
          {user_id === me.data?.id ? " (you)" : ""}
        </Text>
      ),
    },
    { key: "email", title: "Email", width: "minmax(120px, 2fr)", from: "tablet", render: ({ email }) => email },
    {
      key: "role",
      title: "Role",
      width: "116px",
      render: ({ role }) => (
        <Badge variant={role === "admin" ? "light" : "default"} tt="none" radius="sm">
          {role === "admin" ? "Administrator" : "Member"}
        </Badge>
      ),
    },
    {
      key: "since",
      title: "Since",
      width: "110px",
      from: "tablet",
      render: ({ created_at }) => <Moment at={created_at} />,
    },
    {
      key: "actions",
      title: "",
      width: "40px",
      render: (member) =>
        may("changeMember") ? (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${member.name}`}>
                <IconDots size={16} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setChanging(member)}>Change role</Menu.Item>
              <Menu.Item color="red" onClick={() => setRemoving(member)}>
                Remove
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ) : null,
    },
  ];
  return (
    <>
      <ListTable
        label="Members"
        operation="listMembers"
        input={{ id: org.id }}
        columns={columns}
        empty={
          <EmptyState
            title="No members"
            action={
              <Allowed to="addMember">
                <Button variant="light" onClick={onAdd}>
                  Add member
                </Button>
              </Allowed>
            }
            command="binnacle members add --email …"
          >
            Members see the organization. Roles on clusters and projects say what they may do there.
          </EmptyState>
        }
      />
      {changing ? <ChangeRole member={changing} onClose={() => setChanging(null)} /> : null}
      {removing ? (
        <ActionDialog
          opened
          onClose={() => setRemoving(null)}
          title={`Remove ${removing.name}`}
          operation="removeMember"
          input={{ id: org.id, user_id: removing.user_id }}
          action="Remove member"
          typeName={removing.email}
          consequences={[
            `${removing.name} no longer sees the organization ${org.name}.`,
            "Every role on its clusters and projects is lost.",
            "The account itself stays, and so do its other organizations.",
          ]}
          command={`binnacle members remove ${removing.email} --org ${org.slug}`}
          done={`${removing.name} is removed.`}
        />
      ) : null}
    </>
  );
}

function ChangeRole({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const org = useOrg();
  const [role, setRole] = useState<Role>(member.role === "admin" ? "member" : "admin");
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Role of ${member.name}`}
      operation="changeMember"
      input={{ id: org.id, user_id: member.user_id, body: { role } }}
      action="Change role"
      isReady={role !== member.role}
      command={`binnacle members change ${member.email} --role ${role} --org ${org.slug}`}
      done={`${member.name} has a new role.`}
    >
      <Select
        label="Role"
        data={ROLES}
        value={role}
        onChange={(value) => setRole((value ?? member.role) as Role)}
        allowDeselect={false}
        description={
          role === "admin"
            ? "An administrator changes members, credentials and settings, and everything on all clusters."
            : "A member keeps the roles on clusters and projects that were granted."
        }
      />
    </ActionDialog>
  );
}

function AddMember(props: { readonly email: string; readonly onClose: () => void }) {
  const org = useOrg();
  const [email, setEmail] = useState(props.email);
  const [role, setRole] = useState<Role>("member");
  return (
    <ActionDialog
      opened
      onClose={props.onClose}
      title="Add a member"
      operation="addMember"
      input={{ id: org.id, body: { email: email.trim(), role } }}
      action="Add member"
      isReady={email.includes("@")}
      command={`binnacle members add --email ${email || "…"} --role ${role} --org ${org.slug}`}
      done={`${email} is a member now.`}
    >
      {(problems) => (
        <Stack gap="sm">
          <TextInput
            label="Email"
            type="email"
            description="Of somebody who has an account, with a confirmed address."
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={problems["email"]}
            autoComplete="off"
            withAsterisk
            data-autofocus
          />
          <Select
            label="Role"
            data={ROLES}
            value={role}
            onChange={(value) => setRole((value ?? "member") as Role)}
            allowDeselect={false}
            error={problems["role"]}
          />
        </Stack>
      )}
    </ActionDialog>
  );
}
