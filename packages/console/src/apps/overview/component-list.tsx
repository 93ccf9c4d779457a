import type { App } from "@binnacle/client";
import { Box, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import { usePageSearch } from "../../parts/use-search.tsx";
import { believed, COMPONENT_PHASE, type StatusView } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { type ComponentRow, componentKind, componentRows, shortImage, sourceOf } from "../components.ts";
import classes from "./component-list.module.css";

/** The status of a component, as far as the app's own report can be believed. */
export function componentStatus({ status }: ComponentRow, app: App): StatusView {
  if (!status) return { tone: "unknown", word: "Not reported yet" };
  return believed(COMPONENT_PHASE[status.phase], app);
}

/** The components as rows that open their panel; the same as the graph, for the keyboard and for small screens. */
export function ComponentList({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  return (
    <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
      {componentRows(app).map((row) => {
        const { component, status } = row;
        return (
          <li key={component.name}>
            <UnstyledButton
              className={classes.row}
              onClick={() => choose({ component: component.name })}
              aria-haspopup="dialog"
            >
              <Box miw={0} style={{ flex: "2 1 180px" }}>
                <Text size="sm" fw={600} truncate>
                  {component.name}
                </Text>
                <Text size="xs" c="dimmed" truncate>
                  {componentKind(component)} · {shortImage(sourceOf(component))}
                </Text>
              </Box>
              <Group gap="xs" style={{ flex: "1 1 150px" }}>
                <StatusBadge status={componentStatus(row, app)} />
              </Group>
              <Text size="sm" w={{ base: 32, sm: 90 }} style={{ flexShrink: 0, whiteSpace: "nowrap" }}>
                {status && status.desired > 0 ? `${status.ready}/${status.desired}` : "—"}
                {status && status.desired > 0 ? (
                  <Text span visibleFrom="sm" size="sm">
                    {" "}
                    ready
                  </Text>
                ) : null}
              </Text>
              <Text size="sm" w={90} c={status?.restarts ? "var(--tone-warning)" : "dimmed"} visibleFrom="sm">
                {status?.restarts ? `${status.restarts} restarts` : "no restarts"}
              </Text>
              <Text size="xs" c="dimmed" lineClamp={2} style={{ flex: "2 1 160px" }} visibleFrom="md">
                {status?.message ?? ""}
              </Text>
              <IconChevronRight size={16} aria-hidden style={{ flexShrink: 0 }} />
            </UnstyledButton>
          </li>
        );
      })}
    </Stack>
  );
}
