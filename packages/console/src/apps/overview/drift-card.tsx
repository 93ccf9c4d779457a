import type { App } from "@binnacle/client";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Allowed } from "../../frame/org.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Section } from "../../parts/page.tsx";
import { usePageSearch } from "../../parts/use-search.tsx";
import { DRIFT_STATE } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { SimpleDialog } from "../app-dialogs.tsx";
import { driftChanges } from "../field-change.ts";
import { FieldChanges } from "../field-changes.tsx";

/** How the objects in the cluster differ from what was asked for, and the ways out. Nothing where they do not. */
export function DriftCard({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  const [open, setOpen] = useState<"redeploy" | "take_over" | null>(null);
  const { state, summary, fields, detected_at } = app.drift;
  if (state === "in_sync" || state === "unknown" || app.phase === "deleting") return null;
  const isBlocked = state === "blocked_sync";
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  return (
    <Section title="Drift" actions={<StatusBadge status={DRIFT_STATE[state]} />}>
      <Stack gap="sm">
        <Text size="sm">
          <bdi>{summary ?? "The objects in the cluster are not as the app asks for."}</bdi>{" "}
          {detected_at ? (
            <Text span c="dimmed" size="sm">
              Found <Moment at={detected_at} />.
            </Text>
          ) : null}
        </Text>
        <FieldChanges of={driftChanges(fields)} empty="The cluster has not named the fields." />
        <Text size="xs" c="dimmed">
          On the left is what the app asks for, on the right what the cluster has.
        </Text>
        <Group gap="xs">
          <Allowed to="redeployApp" in={place}>
            <Button size="xs" onClick={() => setOpen(isBlocked ? "take_over" : "redeploy")}>
              {isBlocked ? "Take over the fields" : "Apply what was asked for"}
            </Button>
          </Allowed>
          {isBlocked ? null : (
            <Allowed to="updateApp" in={place}>
              <Button size="xs" variant="default" onClick={() => choose({ tab: "configuration" })}>
                Adopt it in the configuration
              </Button>
            </Allowed>
          )}
        </Group>
        {isBlocked ? (
          <Text size="sm" c="dimmed">
            Or let the other manager release the fields: the conflict ends by itself at the next comparison.
          </Text>
        ) : null}
      </Stack>
      {open ? <SimpleDialog kind={open} app={app} onClose={() => setOpen(null)} /> : null}
    </Section>
  );
}
