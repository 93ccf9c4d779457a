import type { App } from "@binnacle/client";
import { Box, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import { usePageSearch } from "../../components/use-search.tsx";
import { componentStatus, rolloutText } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { componentKind, componentRows, shortImage, sourceOf } from "../components.ts";
import classes from "./component-list.module.css";

/** The components as rows that open their panel; the same as the graph, for the keyboard and for small screens. */
export function ComponentList({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  return (
    <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
      {componentRows(app).map(({ component, status }) => {
        const shown = componentStatus(status, app);
        const isTrouble = shown.tone === "warning" || shown.tone === "bad";
        const rollout = status && component.workload_spec ? rolloutText(status) : null;
        return (
          <li key={component.name}>
            <UnstyledButton
              className={classes.row}
              onClick={() => choose({ component: component.name })}
              aria-haspopup="dialog"
            >
              <span className={classes.line}>
                <Box miw={0} style={{ flex: "2 1 180px" }}>
                  <Text size="sm" fw={600} truncate>
                    {component.name}
                  </Text>
                  <Text size="xs" c="dimmed" truncate>
                    {componentKind(component)} · {shortImage(sourceOf(component))}
                  </Text>
                </Box>
                <Group gap="xs" style={{ flex: "1 1 150px" }}>
                  <StatusBadge status={shown} />
                </Group>
                <Box w={{ base: 32, sm: 130 }} style={{ flexShrink: 0, whiteSpace: "nowrap" }}>
                  <Text size="sm">
                    {status && status.desired > 0 ? `${status.ready}/${status.desired}` : "—"}
                    {status && status.desired > 0 ? (
                      <Text span visibleFrom="sm" size="sm">
                        {" "}
                        ready
                      </Text>
                    ) : null}
                  </Text>
                  {rollout ? (
                    <Text size="xs" c="dimmed" visibleFrom="sm">
                      {rollout}
                    </Text>
                  ) : null}
                </Box>
                <Text size="sm" w={90} c={status?.restarts ? "var(--tone-warning)" : "dimmed"} visibleFrom="sm">
                  {status?.restarts ? `${status.restarts} restarts` : "no restarts"}
                </Text>
                <Text size="xs" c="dimmed" lineClamp={2} style={{ flex: "2 1 160px" }} visibleFrom="md">
                  {isTrouble ? "" : (status?.message ?? "")}
                </Text>
                <IconChevronRight size={16} aria-hidden style={{ flexShrink: 0 }} />
              </span>
              {isTrouble && status?.message ? (
                <Text size="sm" mt={4} style={{ overflowWrap: "anywhere" }}>
                  {status.message}
                </Text>
              ) : null}
            </UnstyledButton>
          </li>
        );
      })}
    </Stack>
  );
}
