import { commandLine } from "@binnacle/cli/command-line";
import type { ItemOf, Project } from "@binnacle/client";
import { Badge, Code, Group, Stack } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { appColumns } from "../apps/app-columns.tsx";
import { addonAddress } from "../components/addresses.ts";
import { binnacleOf } from "../components/commands.ts";
import { ButtonLink, RowLink } from "../components/links.tsx";
import { type Column, ListTable, timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceSection } from "../components/resource-list.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { ADDON_PHASE, confirmedStatus } from "../status/status.ts";
import { StatusCell } from "../status/status-badge.tsx";

/** The apps of a project. */
export function ProjectApps({ project }: { readonly project: Project }) {
  const org = useOrg();
  const may = useMay();
  const place = { clusterId: project.cluster_id, projectId: project.id };
  const { name, status, ready, deployed } = appColumns(org.slug);
  return (
    <ListTable
      label="Apps"
      operation="listAppSummaries"
      input={{ project_id: project.id }}
      columns={[name, status, ready, deployed]}
      empty={
        <EmptyState
          title="No apps in this project"
          action={
            may("createApp", place) ? (
              <ButtonLink to={`/o/${org.slug}/apps/new`} search={{ project: project.id }} variant="light">
                Create app
              </ButtonLink>
            ) : null
          }
          command={binnacleOf("createApp", { body: { project_id: project.name } })}
        >
          An app is a set of components that run together. Begin with a template, an image or YAML.
        </EmptyState>
      }
    />
  );
}

/** The addon instances of a project, and what they export to apps. */
export function ProjectAddons({ project }: { readonly project: Project }) {
  const org = useOrg();
  const columns: readonly Column<ItemOf<"listAddonInstances">>[] = [
    {
      title: "Name",
      width: "minmax(120px, 2fr)",
      render: (addon) => <RowLink to={addonAddress(org.slug, addon.id)}>{addon.name}</RowLink>,
    },
    {
      title: "Phase",
      width: "minmax(150px, 1.4fr)",
      render: (addon) => (
        <StatusCell status={confirmedStatus(ADDON_PHASE[addon.phase], addon)} reason={addon.phase_message} />
      ),
    },
    { title: "Chart", width: "minmax(80px, 1fr)", from: "tablet", render: ({ chart_version }) => chart_version },
    { title: "Revision", width: "80px", from: "tablet", render: ({ revision_number }) => revision_number },
  ];
  const exported = useRead("listAvailableExports", { id: project.id });
  return (
    <Stack>
      <ListTable
        label="Addon instances"
        operation="listAddonInstances"
        input={{ project_id: project.id }}
        columns={columns}
        empty={
          <EmptyState
            title="No addons in this project"
            action={
              <ButtonLink to={`/o/${org.slug}/addons`} variant="light">
                To the catalog
              </ButtonLink>
            }
            command={commandLine("createAddonInstance", {
              body: { name: "db", addon_definition_id: "postgresql", project_id: project.name },
            })}
          >
            An addon is a service such as a database, which apps of the project use by what it exports.
          </EmptyState>
        }
      />
      <ResourceSection
        label="Exports"
        of={exported}
        keyOf={(each) => `${each.addon_instance_id} ${each.key}`}
        minWidth={420}
        columns={[
          { title: "Key", render: ({ key }) => <Code>{key}</Code> },
          { title: "Addon", render: ({ addon_instance_name }) => addon_instance_name },
          { title: "Kind", render: ({ secret }) => (secret ? "secret" : "plain") },
          { title: "Published", render: ({ published }) => (published ? "yes" : "not yet") },
        ]}
        empty="Addons of this project export nothing yet."
      />
    </Stack>
  );
}

/** The secrets that a project sees: names and keys, never values. */
export function ProjectSecrets({ project }: { readonly project: Project }) {
  const secrets = useRead("getSecretsOverview", { id: project.id });
  const effective = useRead("listEffectiveRegistrySecrets", { id: project.id });
  return (
    <>
      <ResourceSection
        label="All secrets"
        of={secrets}
        keyOf={(each) => `${each.kind} ${each.source.id} ${each.name}`}
        minWidth={420}
        columns={[
          { title: "Name", render: ({ name }) => name },
          {
            title: "Keys",
            render: ({ keys }) => (
              <Group gap={4}>
                {keys.map((key) => (
                  <Code key={key}>{key}</Code>
                ))}
              </Group>
            ),
          },
          { title: "From", render: ({ inherited_from, source }) => `${inherited_from} ${source.name}` },
          timeColumn("Changed", "updated_at"),
        ]}
        empty="The project sees no secrets."
      />
      <ResourceSection
        label="Registry secrets in force"
        of={effective}
        keyOf={(each) => each.id}
        minWidth={420}
        columns={[
          { title: "Name", render: ({ name }) => name },
          { title: "Registry", render: ({ server_url }) => server_url },
          { title: "User", render: ({ username }) => username },
          {
            title: "Inherited from",
            render: ({ inherited_from }) => (
              <Badge variant="light" color="gray" radius="sm" tt="none" c="var(--tone-unknown)">
                {inherited_from}
              </Badge>
            ),
          },
        ]}
        empty="Only public images can be pulled."
      />
    </>
  );
}
