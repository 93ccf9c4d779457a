import { commandLine } from "@binnacle/cli/command-line";
import type { AddonDefinition, Input, ItemOf } from "@binnacle/client";
import { Avatar, Badge, Box, Button, Card, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { addonAddress, projectAddress } from "../components/addresses.ts";
import { ChoicesFilter, choicesOf, ObjectFilter, SearchFilter, useKnownSearch } from "../components/filters.tsx";
import type { Offered } from "../components/known-search.ts";
import { RowLink, TextLink } from "../components/links.tsx";
import { type Column, ListTable, STATUS_WIDTH, timeColumn } from "../components/list-table.tsx";
import { Loaded, PendingCards } from "../components/loaded.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { PageTabs } from "../components/page-tabs.tsx";
import { useMayCreate } from "../components/use-may-create.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { ADDON_PHASE, confirmedStatus } from "../status/status.ts";
import { StatusCell } from "../status/status-badge.tsx";
import { lettersOf } from "../templates/gallery.ts";
import { CreateAddon } from "./create-addon.tsx";

const PHASES = Object.entries(ADDON_PHASE).map(([value, { word }]) => ({ value, label: word }));

/** The addons that run, and the catalog of those that can. */
export function AddonsPage() {
  const [, choose] = usePageSearch();
  const definitions = useAll("listAddonDefinitions", {});
  const [creating, setCreating] = useState<AddonDefinition | null>(null);
  const mayCreate = useMayCreate("createAddonInstance");
  return (
    <Page
      title="Addons"
      detail="Databases, caches and brokers that run beside your apps."
      actions={
        mayCreate ? (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => choose({ tab: "catalog" })}>
            Add an addon
          </Button>
        ) : null
      }
    >
      <PageTabs
        tabs={[
          {
            key: "instances",
            label: "Instances",
            render: () => (
              <Instances definitions={definitions.data ?? []} onCatalog={() => choose({ tab: "catalog" })} />
            ),
          },
          {
            key: "catalog",
            label: "Catalog",
            render: () => (
              <Loaded of={definitions} skeleton={<PendingCards height={190} />}>
                {(all) => (
                  <SimpleGrid cols={{ base: 1, sm: 2, lg: 3, xl: 4 }} component="ul" p={0} m={0}>
                    {all.map((definition) => (
                      <DefinitionCard
                        key={definition.id}
                        definition={definition}
                        onCreate={mayCreate ? () => setCreating(definition) : null}
                      />
                    ))}
                  </SimpleGrid>
                )}
              </Loaded>
            ),
          },
        ]}
      />
      {creating ? <CreateAddon definition={creating} onClose={() => setCreating(null)} /> : null}
    </Page>
  );
}

function DefinitionCard({
  definition,
  onCreate,
}: {
  readonly definition: AddonDefinition;
  /** Null for those who may add none. */
  readonly onCreate: (() => void) | null;
}) {
  return (
    <Card component="li" padding="md" style={{ listStyle: "none" }}>
      <Group gap="sm" wrap="nowrap">
        <Avatar radius="md" color="navy" aria-hidden>
          {lettersOf(definition.display_name)}
        </Avatar>
        <Box miw={0}>
          <Text fw={600} truncate>
            {definition.display_name}
          </Text>
          <Text size="xs" c="dimmed">
            {definition.category} · {definition.chart.version}
          </Text>
        </Box>
      </Group>
      <Text size="sm" mt="sm" style={{ flex: 1 }}>
        {definition.description}
      </Text>
      <Group justify="space-between" mt="sm">
        {definition.stateful ? (
          <Badge variant="default" size="sm" radius="sm" tt="none" fw={400}>
            keeps data
          </Badge>
        ) : (
          <span />
        )}
        {onCreate ? (
          <Button size="xs" variant="light" onClick={onCreate} aria-label={`Add ${definition.display_name}`}>
            Add
          </Button>
        ) : null}
      </Group>
    </Card>
  );
}

const FILTERS: Readonly<Record<string, Offered>> = { phase: PHASES, project: "id" };

function Instances(props: { readonly definitions: readonly AddonDefinition[]; readonly onCatalog: () => void }) {
  const org = useOrg();
  const { known: search, notice } = useKnownSearch(FILTERS);
  const projects = useAll("listProjects", { org_id: org.id });
  const own = projects.data ?? [];
  const input = {
    org_id: org.id,
    ...(search["project"] ? { project_id: search["project"] } : {}),
    ...(search["phase"] ? { phase: choicesOf(search["phase"]) } : {}),
    ...(search["q"] ? { search: search["q"] } : {}),
  } as Input<"listAddonInstances">;
  const projectName = new Map(own.map(({ id, name }) => [id, name]));
  const definitionName = new Map(props.definitions.map(({ id, display_name }) => [id, display_name]));
  const columns: readonly Column<ItemOf<"listAddonInstances">>[] = [
    {
      title: "Name",
      width: "minmax(120px, 1.5fr)",
      render: ({ id, name }) => <RowLink to={addonAddress(org.slug, id)}>{name}</RowLink>,
    },
    {
      title: "Status",
      width: STATUS_WIDTH,
      render: (addon) => (
        <StatusCell status={confirmedStatus(ADDON_PHASE[addon.phase], addon)} reason={addon.phase_message} />
      ),
    },
    {
      title: "Addon",
      width: "minmax(120px, 1.2fr)",
      from: "tablet",
      render: ({ addon_definition_id, chart_version }) =>
        `${definitionName.get(addon_definition_id) ?? "Not in the catalog"} ${chart_version}`,
    },
    {
      title: "Project",
      width: "minmax(100px, 1fr)",
      from: "tablet",
      render: ({ project_id, namespace }) => (
        <TextLink c="inherit" style={{ position: "relative", zIndex: 1 }} to={projectAddress(org.slug, project_id)}>
          {projectName.get(project_id) ?? namespace}
        </TextLink>
      ),
    },
    timeColumn("Since", "phase_since", "desktop"),
  ];
  return (
    <Stack>
      <Group gap="xs">
        <SearchFilter label="Filter by name" />
        <ChoicesFilter name="phase" label="Any status" choices={PHASES} />
        <ObjectFilter name="project" label="All projects" />
      </Group>
      {notice}
      <ListTable
        label="Addon instances"
        operation="listAddonInstances"
        input={input}
        columns={columns}
        empty={
          <EmptyState
            title="No addons run here"
            action={
              <Button variant="light" onClick={props.onCatalog}>
                See the catalog
              </Button>
            }
            command={commandLine("createAddonInstance", {
              body: { name: "db", addon_definition_id: "postgresql", project_id: "…" },
            })}
          >
            An addon is a service such as a database. Apps of its project use it by what it exports: a host, a port, a
            password.
          </EmptyState>
        }
      />
    </Stack>
  );
}
