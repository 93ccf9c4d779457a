import "@xyflow/react/dist/style.css";
import type { App } from "@binnacle/client";
import { graphlib, layout } from "@dagrejs/dagre";
import { Box, Group, Text, UnstyledButton, useComputedColorScheme, VisuallyHidden } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import { Controls, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { usePageSearch } from "../../components/use-search.tsx";
import { componentStatus } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { type ComponentRow, componentKind, componentRows, shortImage, sourceOf } from "../components.ts";
import { edgeText, type Graph, graphOf } from "./graph.ts";
import classes from "./graph-view.module.css";

const WIDTH = 230;
const HEIGHT = 88;

interface Placed {
  readonly x: number;
  readonly y: number;
}

/** Places from left to right: a component stands to the right of what it needs. */
function placesOf({ nodes, edges }: Graph): ReadonlyMap<string, Placed> {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 24, ranksep: 90 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as Partial<Placed>;
      return [id, { x: x - WIDTH / 2, y: y - HEIGHT / 2 }];
    }),
  );
}

interface NodeData extends Record<string, unknown> {
  readonly app: App;
  readonly name: string;
  readonly row: ComponentRow | undefined;
  readonly open: () => void;
}

/** The components and what they need of each other. The list beside it says the same without a picture. */
export function GraphView({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  const scheme = useComputedColorScheme("light");
  const shape = JSON.stringify(graphOf(app.components));
  // A report changes the states of the components, and not their places.
  const graph = useMemo(() => JSON.parse(shape) as Graph, [shape]);
  const places = useMemo(() => placesOf(graph), [graph]);
  const rows = componentRows(app);
  const nodes = graph.nodes.map(({ id }) => ({
    id,
    type: "component",
    position: places.get(id) ?? { x: 0, y: 0 },
    data: {
      app,
      name: id,
      row: rows.find(({ component }) => component.name === id),
      open: () => choose({ component: id }),
    } satisfies NodeData,
    width: WIDTH,
    height: HEIGHT,
    focusable: false,
  }));
  const edges = graph.edges.map(({ from, to, kind, keys }) => ({
    id: `${from}→${to}`,
    source: from,
    target: to,
    ...(keys.length > 0 ? { label: keys.join(", ") } : {}),
    className: (kind === "export" ? classes["export"] : classes["dependency"]) ?? "",
    markerEnd: {
      type: MarkerType.ArrowClosed,
      color: kind === "export" ? "var(--tone-progress)" : "var(--tone-unknown)",
    },
    focusable: false,
  }));
  return (
    <Box>
      <VisuallyHidden>
        <ul>
          {graph.edges.map((edge) => (
            <li key={`${edge.from}→${edge.to}`}>{edgeText(edge)}</li>
          ))}
        </ul>
      </VisuallyHidden>
      <div className={classes.canvas} style={{ height: heightOf(places) }}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          colorMode={scheme}
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.08 }}
          minZoom={0.2}
          maxZoom={1.5}
          zoomOnScroll={false}
          preventScrolling={false}
        >
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
      <Group gap="lg" mt="xs">
        <Text size="xs" c="dimmed">
          <span className={classes.legendExport} /> hands over exports
        </Text>
        <Text size="xs" c="dimmed">
          <span className={classes.legendDependency} /> has to start before
        </Text>
      </Group>
    </Box>
  );
}

function heightOf(places: ReadonlyMap<string, Placed>): number {
  const ys = [...places.values()].map(({ y }) => y);
  const span = Math.max(0, ...ys) - Math.min(0, ...ys) + HEIGHT;
  return Math.min(520, Math.max(200, span + 70));
}

function ComponentNode({ data }: NodeProps<Node<NodeData>>) {
  const { app, name, row, open } = data;
  return (
    <>
      <Handle type="target" position={Position.Left} className={classes.handle} isConnectable={false} />
      {row ? (
        <UnstyledButton className={`nopan ${classes.node}`} onClick={open} aria-haspopup="dialog">
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {componentKind(row.component)} · {shortImage(sourceOf(row.component))}
          </Text>
          <Group gap={6} mt={4} wrap="nowrap">
            <StatusBadge status={componentStatus(row.status, app)} size="sm" />
            {row.status && row.status.desired > 0 ? (
              <Text size="xs">
                {row.status.ready}/{row.status.desired}
              </Text>
            ) : null}
          </Group>
        </UnstyledButton>
      ) : (
        <div className={`${classes.node} ${classes.outside}`}>
          <Group gap={6} wrap="nowrap">
            <IconPlugConnected size={16} aria-hidden />
            <Text size="sm" fw={600} truncate>
              {name}
            </Text>
          </Group>
          <Text size="xs" c="dimmed">
            an addon outside of the app
          </Text>
        </div>
      )}
      <Handle type="source" position={Position.Right} className={classes.handle} isConnectable={false} />
    </>
  );
}

const NODE_TYPES = { component: ComponentNode };
