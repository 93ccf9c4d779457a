import type { App } from "@binnacle/client";
import { Box, Button, Group, Stack, Text } from "@mantine/core";
import { useRead } from "../../api/queries.runner.ts";
import { Loaded } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { Section } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { deploymentStatus } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { addressOf } from "../app-address.ts";
import { OPERATION_LABELS } from "../deployments/deployment.ts";

const SHOWN = 5;

export function LastDeployments({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  const deployments = useRead("listDeployments", { ...addressOf(app), items_per_page: SHOWN });
  return (
    <Section
      title="Last deployments"
      actions={
        <Button size="compact-xs" variant="subtle" onClick={() => choose({ tab: "deployments" })}>
          All
        </Button>
      }
    >
      <Loaded of={deployments}>
        {({ data }) => (
          <Stack gap="xs">
            {data.map((deployment) => (
              <Group key={deployment.deployment_id} gap="xs" wrap="nowrap" justify="space-between">
                <Text size="sm" truncate>
                  <b>#{deployment.revision}</b> {deployment.summary ?? OPERATION_LABELS[deployment.operation]}{" "}
                  <Text span c="dimmed" size="sm">
                    <Moment at={deployment.created_at} /> by {deployment.created_by ?? "the system"}
                  </Text>
                </Text>
                <Box style={{ flexShrink: 0 }}>
                  <StatusBadge status={deploymentStatus(deployment.status, app.phase)} size="sm" />
                </Box>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}
