import type { App, AppComponent } from "@binnacle/client";
import { Button, Code, Drawer, Group, Stack, Table, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CopyText } from "../../components/copy-text.tsx";
import { TextLink } from "../../components/links.tsx";
import { timeColumn } from "../../components/list-table.tsx";
import { EmptyState, Facts } from "../../components/page.tsx";
import { ShortTable } from "../../components/short-table.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { Allowed } from "../../frame/org.tsx";
import { componentStatus } from "../../status/status.ts";
import { Basis, StatusBadge } from "../../status/status-badge.tsx";
import { obstacle, stateOf } from "../app-action.ts";
import { type ComponentRow, componentKind, componentRows, scalableComponents, sourceOf } from "../components.ts";
import { ScaleDialog } from "../scale-dialog.tsx";
import { Events, Part } from "./panel-parts.tsx";
import { variableRows } from "./variables.ts";

/** Everything about one component, at the side of the page. Which one is open is in the address. */
export function ComponentPanel(props: {
  readonly app: App;
  readonly name: string | undefined;
  readonly onClose: () => void;
}) {
  const { app, name, onClose } = props;
  const row = componentRows(app).find(({ component }) => component.name === name);
  return (
    <Drawer
      opened={name !== undefined}
      onClose={onClose}
      position="right"
      size="xl"
      title={<Text fw={650}>{name}</Text>}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {row ? (
        <PanelBody app={app} row={row} />
      ) : name === undefined ? null : (
        <EmptyState title={`There is no component ${name}`}>It may have been removed from the app.</EmptyState>
      )}
    </Drawer>
  );
}

function PanelBody({ app, row }: { readonly app: App; readonly row: ComponentRow }) {
  const { component, status } = row;
  const [isScaling, setScaling] = useState(false);
  const [, choose] = usePageSearch();
  const spec = component.workload_spec;
  const canScale = scalableComponents([component]).length > 0 && obstacle("scale", stateOf(app)) === null;
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Group gap="sm">
          <StatusBadge status={componentStatus(row.status, app)} />
          <Basis of={app} />
        </Group>
        {status?.message ? (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {status.message}
          </Text>
        ) : null}
      </Stack>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => choose({ tab: "logs", component: component.name })}>
          Logs
        </Button>
        {canScale ? (
          <Allowed to="scaleApp" in={{ clusterId: app.cluster_id, projectId: app.project_id }}>
            <Button size="xs" variant="default" onClick={() => setScaling(true)}>
              Scale
            </Button>
          </Allowed>
        ) : null}
      </Group>
      <Facts
        of={known([
          ["Kind", componentKind(component)],
          [
            spec ? "Image" : "Source",
            <Group key="image" gap={4} wrap="nowrap">
              <Code style={{ overflowWrap: "anywhere" }}>{sourceOf(component)}</Code>
              <CopyText text={sourceOf(component)} label="Copy the image" />
            </Group>,
          ],
          ["Replicas", status ? `${status.ready} ready, ${status.updated} up to date, ${status.desired} wanted` : null],
          ["Restarts", status ? String(status.restarts) : null],
          ["Ports", spec?.ports?.map(({ name, port, protocol }) => `${name} ${port}/${protocol ?? "TCP"}`).join(", ")],
          ["Schedule", spec?.schedule],
          ["Needs", component.depends_on?.join(", ")],
          [
            "Volumes",
            spec?.volumes
              ?.map(({ name, mount_path, ...volume }) => `${name} at ${mount_path} (${volumeKind(volume)})`)
              .join(", "),
          ],
        ])}
      />
      <Pods app={app} row={row} />
      <Variables component={component} />
      <Exports component={component} />
      <Events app={app} isAbout={({ object }) => object.component === component.name} />
      {isScaling ? <ScaleDialog app={app} component={component.name} onClose={() => setScaling(false)} /> : null}
    </Stack>
  );
}

const volumeKind = (volume: {
  size_gb: number;
  storage_class?: string | undefined;
  access_mode?: string | undefined;
}) => [`${volume.size_gb} GB`, volume.storage_class, volume.access_mode].filter(Boolean).join(", ");

type Fact = readonly [name: string, value: ReactNode];
const known = (facts: readonly Fact[]): readonly Fact[] => facts.filter(([, value]) => Boolean(value));

function Pods({ app, row }: { readonly app: App; readonly row: ComponentRow }) {
  const pods = row.status?.pods ?? [];
  const component = row.component.name;
  return (
    <Part title="Pods">
      <ShortTable
        label="Pods"
        rows={pods}
        keyOf={({ name }) => name}
        minWidth={620}
        columns={[
          { title: "Pod", render: ({ name }) => name },
          { title: "Phase", render: ({ phase, reason }) => reason ?? phase },
          { title: "Restarts", render: ({ restarts }) => restarts },
          { title: "Node", render: ({ node }) => node ?? "—" },
          timeColumn("Started", "started_at"),
          {
            title: "Go to",
            isTitleHidden: true,
            render: ({ name }) => <PodLinks app={app} component={component} pod={name} />,
          },
        ]}
        empty="None has been reported."
      />
    </Part>
  );
}

/** The jumps from a pod to its logs, and to a terminal in it for those who may open one. */
export function PodLinks({
  app,
  component,
  pod,
}: {
  readonly app: App;
  readonly component: string;
  readonly pod: string;
}) {
  const to = (tab: string) => ({ project: app.project_id, tab, component, pod });
  return (
    <Group gap="xs" wrap="nowrap">
      <TextLink size="xs" aria-label={`Logs of ${pod}`} to="." search={to("logs")}>
        Logs
      </TextLink>
      <Allowed to="execComponent" in={{ clusterId: app.cluster_id, projectId: app.project_id }}>
        <TextLink size="xs" aria-label={`Terminal in ${pod}`} to="." search={to("terminal")}>
          Terminal
        </TextLink>
      </Allowed>
    </Group>
  );
}

function Variables({ component }: { readonly component: AppComponent }) {
  const rows = variableRows(component);
  if (rows.length === 0) return null;
  return (
    <Part title="Variables">
      <Table aria-label="Variables" layout="fixed">
        <Table.Tbody>
          {rows.map(({ name, value, source }) => (
            <Table.Tr key={`${source}${name}`}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                <Code>{name}</Code>
              </Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {value === null ? (
                  <Text span size="sm" c="dimmed">
                    {source}
                  </Text>
                ) : (
                  value
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Part>
  );
}

function Exports({ component }: { readonly component: AppComponent }) {
  const own = Object.entries(component.exports ?? {});
  const isServing = (component.workload_spec?.ports ?? []).length > 0;
  if (own.length === 0 && !isServing) return null;
  return (
    <Part title="Exports">
      {isServing ? (
        <Text size="sm" c="dimmed">
          host, port and url, as every workload with ports.
        </Text>
      ) : null}
      <Facts of={own.map(([key, text]) => [key, <Code key={key}>{text}</Code>])} />
    </Part>
  );
}
