import type { AddonDefinition, AddonInstance } from "@binnacle/client";
import { Badge, Button, Code, Grid, Group, Menu, Stack, Table, Text } from "@mantine/core";
import { IconDots, IconLock, IconTrash } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { appAddress, appSearch, clusterAddress, projectAddress } from "../components/addresses.ts";
import { CopyText } from "../components/copy-text.tsx";
import { InOwnOrg } from "../components/in-own-org.tsx";
import { TextLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Notice } from "../components/notice.tsx";
import { Facts, Page, Section } from "../components/page.tsx";
import { type PageTab, PageTabs } from "../components/page-tabs.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { asksForAction } from "../status/reason.ts";
import { ReasonAdvice } from "../status/reason-advice.tsx";
import { ADDON_PHASE, componentStatus, confirmedStatus } from "../status/status.ts";
import { Basis, StatusBadge } from "../status/status-badge.tsx";
import { AddonRevisions } from "./addon-revisions.tsx";
import { AddonValues } from "./addon-values.tsx";
import { DeleteAddon } from "./delete-addon.tsx";
import { usersOf } from "./value-diff.ts";

/** One addon instance: how it is, what it exports, its values and its history. */
export function AddonPage() {
  const { id = "" } = useParams({ strict: false });
  const instance = useRead("getAddonInstance", { id }, { refetchMs: 30_000 });
  return (
    <Loaded of={instance}>
      {(addon) => (
        <InOwnOrg orgId={addon.org_id}>
          <AddonView addon={addon} />
        </InOwnOrg>
      )}
    </Loaded>
  );
}

function AddonView({ addon }: { readonly addon: AddonInstance }) {
  const org = useOrg();
  const may = useMay();
  const [isDeleting, setDeleting] = useState(false);
  const definitions = useAll("listAddonDefinitions", {});
  const definition = definitions.data?.find(({ id }) => id === addon.addon_definition_id);
  const place = { clusterId: addon.cluster_id, projectId: addon.project_id };
  const mayChange = may("updateAddonInstance", place) && addon.phase !== "deleting";
  const status = confirmedStatus(ADDON_PHASE[addon.phase], addon);
  const tabs: readonly PageTab[] = [
    { key: "overview", label: "Overview", render: () => <Overview addon={addon} definition={definition} /> },
    {
      key: "values",
      label: "Values",
      render: () => <AddonValues addon={addon} definition={definition} mayChange={mayChange} />,
    },
    { key: "revisions", label: "Revisions", render: () => <AddonRevisions addon={addon} mayChange={mayChange} /> },
  ];
  return (
    <Page
      title={addon.name}
      status={<StatusBadge status={status} />}
      detail={
        <Stack gap={2}>
          <span>
            {definition?.display_name ?? (definitions.isPending ? "" : "Not in the catalog any more")}{" "}
            {addon.chart_version} in{" "}
            <TextLink inherit isInText to={projectAddress(org.slug, addon.project_id)}>
              {addon.namespace}
            </TextLink>
          </span>
          <Basis of={addon} />
        </Stack>
      }
      actions={
        mayChange ? (
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" px="xs" aria-label="More actions">
                <IconDots size={16} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={14} aria-hidden />}
                onClick={() => setDeleting(true)}
              >
                Delete addon
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ) : null
      }
    >
      {(addon.phase_message || asksForAction(addon.phase_reason)) && status.tone !== "good" ? (
        <Notice tone={status.tone} title={status.word}>
          {addon.phase_message} <ReasonAdvice reason={addon.phase_reason} message={addon.phase_message} />
        </Notice>
      ) : null}
      <PageTabs tabs={tabs} />
      {isDeleting ? <DeleteAddon addon={addon} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

interface Shown {
  readonly addon: AddonInstance;
  readonly definition: AddonDefinition | undefined;
}

function Overview({ addon, definition }: Shown) {
  const org = useOrg();
  const cluster = useRead("getCluster", { id: addon.cluster_id });
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <Exports addon={addon} definition={definition} />
          <Workloads addon={addon} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <UsedBy addon={addon} />
          <Section title="Facts">
            <Facts
              of={[
                [
                  "Cluster",
                  <TextLink key="cluster" inherit to={clusterAddress(org.slug, addon.cluster_id)}>
                    {cluster.data?.name ?? "Go to the cluster"}
                  </TextLink>,
                ],
                ["Chart", definition ? `${definition.chart.repo}/${definition.chart.name}` : null],
                ["Revision", addon.revision_number],
                ["Phase since", <Moment key="since" at={addon.phase_since} />],
                ["Created", <Moment key="created" at={addon.created_at} />],
                ["Drift", addon.drift.summary ?? addon.drift.state.replaceAll("_", " ")],
              ]}
            />
          </Section>
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function Exports({ addon, definition }: Shown) {
  const keys = [...new Set([...Object.keys(definition?.export_schema ?? {}), ...Object.keys(addon.exports)])];
  return (
    <Section title="Exports">
      <Text size="sm" c="dimmed" mb="xs">
        Apps of the project take these as variables. Secret ones stay in the cluster.
      </Text>
      {keys.length === 0 ? (
        <Text size="sm">It exports nothing.</Text>
      ) : (
        <Table.ScrollContainer minWidth={360}>
          <Table>
            <Table.Tbody>
              {keys.map((key) => (
                <Table.Tr key={key}>
                  <Table.Td>
                    <Code>{key}</Code>
                    <Text size="xs" c="dimmed">
                      {definition?.export_schema[key]?.description}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <ExportValue value={addon.exports[key]} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

function ExportValue({ value }: { readonly value: AddonInstance["exports"][string] | undefined }) {
  if (value === undefined)
    return (
      <Text size="sm" c="dimmed">
        Not published yet
      </Text>
    );
  if (typeof value === "string")
    return (
      <Group gap={4} wrap="nowrap">
        <Code style={{ overflowWrap: "anywhere" }}>{value}</Code>
        <CopyText text={value} />
      </Group>
    );
  return (
    <Group gap={6} wrap="nowrap">
      <IconLock size={14} aria-hidden />
      <Text size="sm">
        Secret <Code>{value.secret_ref.name}</Code>, key <Code>{value.secret_ref.key}</Code>
      </Text>
    </Group>
  );
}

function Workloads({ addon }: { readonly addon: AddonInstance }) {
  if (addon.components_status.length === 0) return null;
  return (
    <Section title="Workloads">
      <Stack gap="xs">
        {addon.components_status.map((workload) => (
          <Group key={workload.name} justify="space-between" gap="xs">
            <Text size="sm" fw={600}>
              {workload.name}
            </Text>
            <Group gap="sm">
              <Text size="sm" c="dimmed">
                {workload.ready} of {workload.desired} ready
                {workload.restarts > 0 ? `, ${workload.restarts} restarts` : ""}
              </Text>
              <StatusBadge status={componentStatus(workload, addon)} />
            </Group>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function UsedBy({ addon }: { readonly addon: AddonInstance }) {
  const org = useOrg();
  const apps = useAll("listProjectApps", { id: addon.project_id });
  return (
    <Section title="Used by">
      <Loaded of={apps}>
        {(all) => {
          const users = usersOf(all, addon.name);
          return users.length === 0 ? (
            <Text size="sm" c="dimmed">
              No app of the project uses it. Attach it to an app on the app's page.
            </Text>
          ) : (
            <Stack gap="xs">
              {users.map(({ app, components }) => (
                <Group key={app.id} gap="xs">
                  <TextLink to={appAddress(org.slug, app)} search={appSearch(app)}>
                    {app.name}
                  </TextLink>
                  {components.map((component) => (
                    <Badge key={component} variant="default" size="sm" radius="sm" tt="none" fw={400}>
                      {component}
                    </Badge>
                  ))}
                </Group>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}
