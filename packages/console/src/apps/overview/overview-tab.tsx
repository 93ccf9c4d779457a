import type { App } from "@binnacle/client";
import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { lazily } from "../../components/loaded.tsx";
import { Section } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { ComponentList } from "./component-list.tsx";
import { ComponentPanel } from "./component-panel.tsx";
import { DriftCard } from "./drift-card.tsx";
import { LastDeployments } from "./last-deployments.tsx";

const ResourceTree = lazily(async () => (await import("./resource-tree-view.tsx")).ResourceTreeView);
const GraphView = lazily(async () => (await import("./graph-view.tsx")).GraphView);

const VIEWS = [
  { value: "graph", label: "Graph" },
  { value: "list", label: "List" },
  { value: "tree", label: "Resources" },
];

/** Whether the app runs as it was asked for: its components, its drift, and what was done to it last. */
export function OverviewTab({ app }: { readonly app: App }) {
  const [search, choose] = usePageSearch();
  const isWide = useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });
  // One component has no edges, and a small screen no room for a picture.
  const usual = isWide && app.components.length > 1 ? "graph" : "list";
  const view = VIEWS.find(({ value }) => value === search["view"])?.value ?? usual;
  return (
    <Stack gap="md">
      <DriftCard app={app} />
      <Section
        title="Components"
        actions={
          <SegmentedControl
            size="xs"
            data={VIEWS}
            value={view}
            onChange={(value) => choose({ view: value === usual ? undefined : value })}
            aria-label="View"
          />
        }
      >
        {view === "tree" ? (
          <ResourceTree app={app} />
        ) : view === "graph" ? (
          <GraphView app={app} />
        ) : (
          <ComponentList app={app} />
        )}
      </Section>
      <LastDeployments app={app} />
      <ComponentPanel app={app} name={search["component"]} onClose={() => choose({ component: undefined })} />
      {app.components.length === 0 ? (
        <Text size="sm" c="dimmed">
          The app has no components.
        </Text>
      ) : null}
    </Stack>
  );
}
