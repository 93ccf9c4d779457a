import type { ChartRepository } from "@binnacle/client";
import { Code, Group, PasswordInput, Text, TextInput } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { binnacleOf } from "../components/commands.ts";
import { changedFields, type Fields } from "../components/form.tsx";
import { timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceSection } from "../components/resource-list.tsx";
import { useOrg } from "../frame/org.tsx";

/** Access to private repositories of Helm charts. There are at most fifty, so they are one table. */
export function ChartRepositories() {
  const org = useOrg();
  return (
    <ResourceSection
      label="Chart repositories"
      of={useRead("listChartRepositories", { id: org.id })}
      keyOf={(repository) => repository.id}
      nameOf={(repository) => repository.name}
      minWidth={520}
      columns={[
        { title: "Name", render: ({ name }) => <strong>{name}</strong> },
        { title: "Address", render: ({ url }) => <Code>{url}</Code> },
        { title: "User", render: ({ username }) => username },
        timeColumn("Changed", "updated_at"),
      ]}
      empty={
        <EmptyState
          title="No private chart repositories"
          command={binnacleOf("createChartRepository", {
            id: org.slug,
            body: { name: "…", url: "…", username: "…", password: "…" },
          })}
        >
          Public repositories need nothing. Add the user and password of a private one, and charts from it can be used.
        </EmptyState>
      }
      add={{
        label: "Add repository",
        operation: "createChartRepository",
        dialog: (close) => <CreateRepository onClose={close} />,
      }}
      menu={(repository) => [
        {
          label: "Change",
          operation: "updateChartRepository",
          dialog: (close) => <ChangeRepository repository={repository} onClose={close} />,
        },
        {
          label: "Delete",
          isDangerous: true,
          operation: "deleteChartRepository",
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Delete ${repository.name}`}
              operation="deleteChartRepository"
              input={{ id: org.id, repository_id: repository.id }}
              action="Delete repository"
              typeName={repository.name}
              consequences={[
                "Charts from it can no longer be installed or upgraded, unless it is public.",
                "Charts that are installed stay as they are.",
              ]}
              named={[repository]}
              done={`${repository.name} is deleted.`}
            />
          ),
        },
      ]}
    />
  );
}

const EMPTY = { name: "", url: "", username: "", password: "" };

function CreateRepository({ onClose }: { readonly onClose: () => void }) {
  const org = useOrg();
  return (
    <ActionDialog
      onClose={onClose}
      title="Add a chart repository"
      operation="createChartRepository"
      values={EMPTY}
      input={(body) => ({ id: org.id, body })}
      action="Add repository"
      isReady={(body) => Object.values(body).every((text) => text !== "")}
      done={({ name }) => `${name} is stored.`}
    >
      {({ field }) => repositoryFields(field, "")}
    </ActionDialog>
  );
}

function ChangeRepository(props: { readonly repository: ChartRepository; readonly onClose: () => void }) {
  const org = useOrg();
  const { id, name, url, username } = props.repository;
  const before = { name, url, username, password: "" };
  const moves = (typed: typeof EMPTY) => typed.url !== url || typed.username !== username;
  return (
    <ActionDialog
      onClose={props.onClose}
      title={`Change ${name}`}
      operation="updateChartRepository"
      values={before}
      input={(typed) => ({ id: org.id, repository_id: id, body: changedFields(before, typed) })}
      action="Save"
      isReady={(typed) =>
        Object.keys(changedFields(before, typed)).length > 0 && (!moves(typed) || typed.password !== "")
      }
      named={[props.repository]}
      done={(typed) => `${typed.name} is saved.`}
    >
      {({ field, values }) => (
        <>
          {repositoryFields(field, moves(values) ? "A new address or user needs it" : "Left empty, it stays")}
          {moves(values) ? (
            <Text size="xs" c="dimmed">
              A stored password is never sent to another address, so it has to be given again.
            </Text>
          ) : null}
        </>
      )}
    </ActionDialog>
  );
}

const repositoryFields = (field: Fields<typeof EMPTY>["field"], passwordHint: string) => (
  <>
    <TextInput label="Name" withAsterisk data-autofocus {...field("name")} />
    <TextInput
      label="Address"
      description="Of a Helm repository or an OCI registry. The password is presented to this host alone."
      placeholder="https://charts.example.com or oci://registry.example.com/charts"
      withAsterisk
      {...field("url")}
    />
    <Group grow align="flex-start">
      <TextInput label="User" withAsterisk {...field("username")} />
      <PasswordInput label="Password" placeholder={passwordHint} {...field("password")} />
    </Group>
  </>
);
