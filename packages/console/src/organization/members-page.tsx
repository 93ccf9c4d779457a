import { commandLine } from "@binnacle/cli/command-line";
import type { Member } from "@binnacle/client";
import { Badge, Button, Group, Select, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { CreateUser } from "../components/create-user.tsx";
import { timeColumn } from "../components/list-table.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { PageTabs } from "../components/page-tabs.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { RoleMatrix } from "./role-matrix.tsx";

type Role = Member["role"];
const ROLES: { readonly value: Role; readonly label: string }[] = [
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
  const me = useRead("getMe", {});
  return (
    <ResourceList
      label="Members"
      operation="listMembers"
      input={{ id: org.id }}
      nameOf={(member) => member.name}
      columns={[
        {
          title: "Name",
          width: "minmax(0, 1.5fr)",
          render: ({ name, user_id }) => (
            <Text size="sm" fw={600} truncate component="span">
              {name}
              {user_id === me.data?.id ? " (you)" : ""}
            </Text>
          ),
        },
        { title: "Email", width: "minmax(120px, 2fr)", from: "tablet", render: ({ email }) => email },
        {
          title: "Role",
          width: "116px",
          render: ({ role }) => (
            <Badge variant={role === "admin" ? "light" : "default"} tt="none" radius="sm">
              {role === "admin" ? "Administrator" : "Member"}
            </Badge>
          ),
        },
        timeColumn("Since", "created_at", "tablet"),
      ]}
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
          command={commandLine("addMember", { id: org.slug, body: { email: "…", role: "member" } })}
        >
          Members see the organization. Roles on clusters and projects say what they may do there.
        </EmptyState>
      }
      menu={(member) => [
        {
          label: "Change role",
          operation: "changeMember",
          dialog: (close) => <ChangeRole member={member} onClose={close} />,
        },
        {
          label: "Remove",
          isDangerous: true,
          operation: "removeMember",
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Remove ${member.name}`}
              operation="removeMember"
              input={{ id: org.id, user_id: member.user_id }}
              action="Remove member"
              typeName={member.email}
              consequences={[
                `${member.name} no longer sees the organization ${org.name}.`,
                "Every role on its clusters and projects is lost.",
                "The account itself stays, and so do its other organizations.",
              ]}
              named={[{ id: member.user_id, name: member.email }]}
              done={`${member.name} is removed.`}
            />
          ),
        },
      ]}
    />
  );
}

function ChangeRole({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const org = useOrg();
  const other: Role = member.role === "admin" ? "member" : "admin";
  return (
    <ActionDialog
      onClose={onClose}
      title={`Role of ${member.name}`}
      operation="changeMember"
      values={{ role: other }}
      input={(body) => ({ id: org.id, user_id: member.user_id, body })}
      action="Change role"
      isReady={({ role }) => role !== member.role}
      named={[{ id: member.user_id, name: member.email }]}
      done={`${member.name} has a new role.`}
    >
      {({ field, values }) => (
        <Select
          label="Role"
          data={ROLES}
          allowDeselect={false}
          description={
            values.role === "admin"
              ? "An administrator changes members, credentials and settings, and everything on all clusters."
              : "A member keeps the roles on clusters and projects that were granted."
          }
          {...field("role")}
        />
      )}
    </ActionDialog>
  );
}

function AddMember({ email, onClose }: { readonly email: string; readonly onClose: () => void }) {
  const org = useOrg();
  return (
    <ActionDialog
      onClose={onClose}
      title="Add a member"
      operation="addMember"
      values={{ email, role: "member" as Role }}
      input={(typed) => ({ id: org.id, body: { ...typed, email: typed.email.trim() } })}
      action="Add member"
      isReady={(typed) => typed.email.includes("@")}
      done={(typed) => `${typed.email} is a member now.`}
    >
      {({ field }) => (
        <>
          <TextInput
            label="Email"
            type="email"
            description="Of somebody who has an account, with a confirmed address."
            withAsterisk
            data-autofocus
            {...field("email")}
          />
          <Select label="Role" data={ROLES} allowDeselect={false} {...field("role")} />
        </>
      )}
    </ActionDialog>
  );
}
