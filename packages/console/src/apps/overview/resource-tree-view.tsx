import type { App, ResourceNode } from "@binnacle/client";
import { ActionIcon, Box, Group, Stack, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../../api/queries.runner.ts";
import { Loaded } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { confirmedStatus, RESOURCE_STATUS } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { addressOf } from "../app-address.ts";
import { PodLinks } from "./component-panel.tsx";
import { ObjectButton, ObjectPanel } from "./object-panel.tsx";
import { nodeText, treeRows } from "./resource-tree.ts";

const INDENT = 22;

/** The objects of the app in the cluster, read there at this moment: app, components, their objects, down to the pods. */
export function ResourceTreeView({ app }: { readonly app: App }) {
  const resources = useRead("getAppResources", addressOf(app), { refetchMs: 10_000 });
  const [search, choose] = usePageSearch();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const fold = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setFolded(next);
  };
  return (
    <Loaded of={resources}>
      {(answer) => (
        <Stack gap={0}>
          <ObjectPanel
            app={app}
            resources={answer}
            open={search["object"]}
            onClose={() => choose({ object: undefined })}
          />
          <Box component="ul" m={0} p={0} style={{ listStyle: "none", overflowX: "auto" }} aria-label="Resources">
            {treeRows(answer.nodes, folded).map(({ node, depth, hasChildren }) => (
              <Row
                key={node.id}
                app={app}
                node={node}
                depth={depth}
                isFolded={hasChildren ? folded.has(node.id) : null}
                observedAt={answer.observed_at}
                onFold={() => fold(node.id)}
              />
            ))}
          </Box>
          <Text size="xs" c="dimmed" mt="xs">
            Read in the cluster <Moment at={answer.observed_at} />.
            {answer.truncated ? " There is more than is shown here." : ""}
          </Text>
        </Stack>
      )}
    </Loaded>
  );
}

function Row(props: {
  readonly app: App;
  readonly node: ResourceNode;
  readonly depth: number;
  /** Null where there is nothing below it. */
  readonly isFolded: boolean | null;
  readonly observedAt: string;
  readonly onFold: () => void;
}) {
  const { app, node, depth, isFolded, observedAt, onFold } = props;
  const status = confirmedStatus(RESOURCE_STATUS[node.status], { stale: false, observed_at: observedAt });
  const words = nodeText(node);
  return (
    <Group component="li" gap={8} wrap="nowrap" py={5} pl={depth * INDENT} miw={520}>
      {isFolded === null ? (
        <Box w={22} style={{ flexShrink: 0 }} />
      ) : (
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          onClick={onFold}
          aria-expanded={!isFolded}
          aria-label={`${isFolded ? "Unfold" : "Fold"} ${node.kind} ${node.name}`}
        >
          {isFolded ? <IconChevronRight size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />}
        </ActionIcon>
      )}
      <Box style={{ flexShrink: 1, minWidth: 90, overflow: "hidden" }} fz="sm">
        <ObjectButton node={node} />
      </Box>
      <StatusBadge status={status} size="sm" />
      <Text size="xs" c="dimmed" truncate style={{ flex: 1 }} title={words}>
        {words}
        {node.node ? `${words ? ", " : ""}on ${node.node}` : ""}
      </Text>
      {node.kind === "Pod" && node.component ? <PodLinks app={app} component={node.component} pod={node.name} /> : null}
    </Group>
  );
}
