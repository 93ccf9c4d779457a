import type { AppSummary, ItemOf, Project, VisibleSecret } from "@binnacle/client";
import { Badge, Code, Group, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useRead } from "../api/queries.runner.ts";
import { useMay, useOrg } from "../frame/org.tsx";
import { addonAddress, appAddress, appSearch } from "../parts/addresses.ts";
import { quoted } from "../parts/commands.ts";
import { ButtonLink, RowLink } from "../parts/links.tsx";
import { type Column, Dimmed, ListTable } from "../parts/list-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Section } from "../parts/page.tsx";
import { WideTable } from "../parts/wide-table.tsx";
import { ADDON_PHASE, appStatus, believed } from "../status/status.ts";
import { StatusCell } from "../status/status-badge.tsx";

/** The apps of a project. */
export function ProjectApps({ project }: { readonly project: Project }) {
  const org = useOrg();
  const may = useMay();
  const place = { clusterId: project.cluster_id, projectId: project.id };
  const columns: readonly Column<AppSummary>[] = [
    {
      key: "name",
      title: "Name",
      width: "minmax(120px, 2fr)",
      render: (app) => (
        <RowLink to={appAddress(org.slug, app)} search={appSearch(app)}>
          {app.name}
        </RowLink>
      ),
    },
    {
      key: "phase",
      title: "Status",
      width: "minmax(150px, 1.4fr)",
      render: (app) => <StatusCell status={appStatus(app)} reason={app.phase_message} />,
    },
    {
      key: "ready",
      title: "Ready",
      width: "70px",
      from: "tablet",
      render: ({ ready, desired }) => `${ready}/${desired}`,
    },
    {
      key: "deployed",
      title: "Last deployment",
      width: "minmax(130px, 1.2fr)",
      from: "tablet",
      render: ({ last_deployment: last }) =>
        last ? (
          <Dimmed>
            <Moment at={last.created_at} /> by {last.created_by ?? "the system"}
          </Dimmed>
        ) : (
          "—"
        ),
    },
  ];
  return (
    <ListTable
      label="Apps"
      operation="listAppSummaries"
      input={{ project_id: project.id }}
      columns={columns}
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
          command={`binnacle apps deploy -f app.yaml --project ${quoted(project.name)}`}
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
      key: "name",
      title: "Name",
      width: "minmax(120px, 2fr)",
      render: (addon) => <RowLink to={addonAddress(org.slug, addon.id)}>{addon.name}</RowLink>,
    },
    {
      key: "phase",
      title: "Phase",
      width: "minmax(150px, 1.4fr)",
      render: (addon) => <StatusCell status={believed(ADDON_PHASE[addon.phase], addon)} reason={addon.phase_message} />,
    },
    {
      key: "version",
      title: "Chart",
      width: "minmax(80px, 1fr)",
      from: "tablet",
      render: ({ chart_version }) => chart_version,
    },
    {
      key: "revision",
      title: "Revision",
      width: "80px",
      from: "tablet",
      render: ({ revision_number }) => revision_number,
    },
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
            command={`binnacle addons create db postgresql --project ${quoted(project.name)}`}
          >
            An addon is a service such as a database, which apps of the project use by what it exports.
          </EmptyState>
        }
      />
      <Section title="Exports">
        <Loaded of={exported}>
          {({ data }) => (
            <SimpleTable
              label="Exports"
              none="Addons of this project export nothing yet."
              titles={["Key", "Addon", "Kind", "Published"]}
              rows={data.map((each) => ({
                key: `${each.addon_instance_id} ${each.key}`,
                cells: [
                  <Code key="key">{each.key}</Code>,
                  each.addon_instance_name,
                  each.secret ? "secret" : "plain",
                  each.published ? "yes" : "not yet",
                ],
              }))}
            />
          )}
        </Loaded>
      </Section>
    </Stack>
  );
}

const SOURCES: Readonly<Record<VisibleSecret["inherited_from"], string>> = {
  cluster: "cluster",
  project: "project",
  app: "app",
  addon: "addon",
};

/** The secrets that a project sees: names and keys, never values. */
export function ProjectSecrets({ project }: { readonly project: Project }) {
  const secrets = useRead("getSecretsOverview", { id: project.id });
  const effective = useRead("listEffectiveRegistrySecrets", { id: project.id });
  return (
    <>
      <Section title="All secrets">
        <Loaded of={secrets}>
          {({ data }) => (
            <SimpleTable
              label="All secrets"
              none="The project sees no secrets."
              titles={["Name", "Keys", "From", "Changed"]}
              rows={data.map((each) => ({
                key: `${each.kind} ${each.source.id} ${each.name}`,
                cells: [
                  each.name,
                  <Group key="keys" gap={4}>
                    {each.keys.map((key) => (
                      <Code key={key}>{key}</Code>
                    ))}
                  </Group>,
                  `${SOURCES[each.inherited_from]} ${each.source.name}`,
                  <Moment key="at" at={each.updated_at} />,
                ],
              }))}
            />
          )}
        </Loaded>
      </Section>
      <Section title="Registry secrets in force">
        <Loaded of={effective}>
          {({ data }) => (
            <SimpleTable
              label="Registry secrets in force"
              none="Only public images can be pulled."
              titles={["Name", "Registry", "User", "Inherited from"]}
              rows={data.map((each) => ({
                key: each.id,
                cells: [
                  each.name,
                  each.server_url,
                  each.username,
                  <Badge key="from" variant="light" color="gray" radius="sm" tt="none" c="var(--tone-unknown)">
                    {each.inherited_from}
                  </Badge>,
                ],
              }))}
            />
          )}
        </Loaded>
      </Section>
    </>
  );
}

function SimpleTable(props: {
  readonly titles: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
  readonly label: string;
  readonly none: string;
}) {
  if (props.rows.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {props.none}
      </Text>
    );
  }
  return (
    <WideTable label={props.label} minWidth={420}>
      <Table.Thead>
        <Table.Tr>
          {props.titles.map((title) => (
            <Table.Th key={title}>{title}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {props.rows.map(({ key, cells }) => (
          <Table.Tr key={key}>
            {cells.map((cell, index) => (
              <Table.Td key={props.titles[index]} style={{ overflowWrap: "anywhere" }}>
                {cell}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}
