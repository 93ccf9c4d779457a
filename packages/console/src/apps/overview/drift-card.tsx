import type { App } from "@binnacle/client";
import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { timeColumn } from "../../components/list-table.tsx";
import { Moment } from "../../components/moment.tsx";
import { Section } from "../../components/page.tsx";
import { ShortTable } from "../../components/short-table.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { Allowed } from "../../frame/org.tsx";
import { DRIFT_STATE } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { SimpleDialog } from "../app-dialogs.tsx";
import { driftChanges, pointerSteps } from "../field-change.ts";
import { FieldChanges } from "../field-changes.tsx";

/** How the objects in the cluster differ from what was asked for, and the ways out. Nothing where they do not. */
export function DriftCard({ app }: { readonly app: App }) {
  const [, choose] = usePageSearch();
  const [open, setOpen] = useState<"redeploy" | "take_over" | null>(null);
  const { state, summary, fields, detected_at } = app.drift;
  if (app.phase === "deleting") return null;
  if (state === "in_sync" || state === "unknown") return <Repairs of={app.drift.repaired} />;
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
        <FieldChanges of={driftChanges(fields)} empty="The cluster has not named the fields." between="drift" />
        <Group gap="xs">
          <Allowed to="redeployApp" in={place}>
            {/* The page has one primary action, in its header. */}
            <Button size="xs" variant="light" onClick={() => setOpen(isBlocked ? "take_over" : "redeploy")}>
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
      <RepairList of={app.drift.repaired} />
      {open ? <SimpleDialog kind={open} app={app} onClose={() => setOpen(null)} /> : null}
    </Section>
  );
}

type DriftRepairs = App["drift"]["repaired"];

/** What was changed on the cluster and is as the app asks for again. */
function Repairs({ of: repairs }: { readonly of: DriftRepairs }) {
  if (repairs.length === 0) return null;
  return (
    <Section title="Repaired drift">
      <RepairList of={repairs} />
    </Section>
  );
}

const RepairList = ({ of: repairs }: { readonly of: DriftRepairs }) => (
  <ShortTable
    label="Repaired drift"
    rows={repairs}
    keyOf={({ object, pointer, manager }) => `${object.kind} ${object.name} ${pointer} ${manager}`}
    columns={[
      {
        title: "Field",
        render: ({ object, pointer }) => (
          <>
            <bdi>{`${object.kind} ${object.name}`}</bdi>{" "}
            <Code>{pointerSteps(pointer).join(".") || "the object, deleted"}</Code>
          </>
        ),
      },
      {
        title: "Changed by",
        render: ({ manager, times }) => (
          <>
            <bdi>{manager ?? "unknown"}</bdi>
            {times > 1 ? `, ${times.toLocaleString()} times` : ""}
          </>
        ),
      },
      timeColumn("Found", "detected_at"),
      timeColumn("Repaired", "repaired_at"),
    ]}
    empty={null}
  />
);
