import type { App, DeploymentListItem } from "@binnacle/client";
import { Box, Button, Checkbox, Group, Pagination, Stack, Text, Timeline } from "@mantine/core";
import { useState } from "react";
import { useRead } from "../../api/queries.runner.ts";
import { choicesOf } from "../../components/filters.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { Section } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { Allowed } from "../../frame/org.tsx";
import { deploymentStatus } from "../../status/status.ts";
import { StatusBadge, ToneIcon } from "../../status/status-badge.tsx";
import { obstacle, stateOf } from "../app-action.ts";
import { addressOf, cliName } from "../app-address.ts";
import { deploymentChanges } from "../field-change.ts";
import { FieldChanges } from "../field-changes.tsx";
import { changeText, comparedPair, OPERATION_LABELS, toggled, tookText } from "./deployment.ts";
import { RollbackDialog } from "./rollback-dialog.tsx";

const PER_PAGE = 50;

/** What was done to the app, newest first. Any two revisions can be compared, and any older one brought back. */
export function DeploymentsTab({ app }: { readonly app: App }) {
  const [search, choose] = usePageSearch();
  const page = Math.max(1, Number(search["page"] ?? 1) || 1);
  const deployments = useRead("listDeployments", { ...addressOf(app), page, items_per_page: PER_PAGE });
  const [target, setTarget] = useState<DeploymentListItem | null>(null);
  const chosen = choicesOf(search["compare"]);
  return (
    <Loaded of={deployments}>
      {({ data, total_count }) => {
        const pair = comparedPair(data, chosen);
        return (
          <Stack gap="md">
            {pair ? (
              <Compared app={app} older={pair[0]} newer={pair[1]} onClose={() => choose({ compare: undefined })} />
            ) : (
              <Text size="sm" c="dimmed">
                {chosen.length === 1 ? "Choose a second revision to compare." : "Choose two revisions to compare them."}
              </Text>
            )}
            <Timeline bulletSize={24} lineWidth={2} active={-1}>
              {data.map((deployment) => (
                <Timeline.Item
                  key={deployment.deployment_id}
                  bullet={<ToneIcon {...deploymentStatus(deployment.status, app.phase)} />}
                >
                  <Entry
                    app={app}
                    deployment={deployment}
                    isChosen={chosen.includes(String(deployment.revision))}
                    onChoose={() => choose({ compare: toggled(chosen, String(deployment.revision)).join(",") })}
                    onRollBack={() => setTarget(deployment)}
                  />
                </Timeline.Item>
              ))}
            </Timeline>
            {total_count > PER_PAGE ? (
              <Pagination
                total={Math.ceil(total_count / PER_PAGE)}
                value={page}
                onChange={(value) => choose({ page: value === 1 ? undefined : String(value) })}
                getControlProps={(control) => ({ "aria-label": `${control} page` })}
              />
            ) : null}
            {target ? <RollbackDialog app={app} target={target} onClose={() => setTarget(null)} /> : null}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Entry(props: {
  readonly app: App;
  readonly deployment: DeploymentListItem;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onRollBack: () => void;
}) {
  const { app, deployment, isChosen, onChoose, onRollBack } = props;
  const isCurrent = deployment.revision === app.revision;
  const took = tookText(deployment);
  const changed = changeText(deployment);
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  return (
    <Group justify="space-between" align="flex-start" gap="xs">
      <Box miw={0} style={{ flex: "1 1 260px" }}>
        <Group gap="xs">
          <Text size="sm" fw={600}>
            #{deployment.revision} {OPERATION_LABELS[deployment.operation]}
          </Text>
          <StatusBadge status={deploymentStatus(deployment.status, app.phase)} size="sm" />
          {isCurrent ? (
            <Text size="xs" c="dimmed">
              current
            </Text>
          ) : null}
        </Group>
        {changed ? (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {changed}
          </Text>
        ) : null}
        <Text size="xs" c="dimmed">
          <Moment at={deployment.created_at} /> by {deployment.created_by ?? "the system"}
          {took ? `, took ${took}` : ""}
        </Text>
        {deployment.message ? (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {deployment.message}
          </Text>
        ) : null}
      </Box>
      <Group gap="xs">
        {isCurrent || obstacle("roll_back", stateOf(app)) !== null ? null : (
          <Allowed to="rollbackToDeployment" in={place}>
            <Button size="compact-xs" variant="default" onClick={onRollBack}>
              Roll back
            </Button>
          </Allowed>
        )}
        <Checkbox
          size="xs"
          label="Compare"
          aria-label={`Compare revision ${deployment.revision}`}
          checked={isChosen}
          onChange={onChoose}
        />
      </Group>
    </Group>
  );
}

function Compared(props: {
  readonly app: App;
  readonly older: DeploymentListItem;
  readonly newer: DeploymentListItem;
  readonly onClose: () => void;
}) {
  const { app, older, newer, onClose } = props;
  const diff = useRead("diffDeployments", {
    ...addressOf(app),
    deployment_id: newer.deployment_id,
    against: older.deployment_id,
  });
  return (
    <Section
      title={`From #${older.revision} to #${newer.revision}`}
      actions={
        <Button size="compact-xs" variant="subtle" color="gray" onClick={onClose}>
          Close
        </Button>
      }
    >
      <Loaded of={diff}>
        {({ changes }) => (
          <FieldChanges
            of={deploymentChanges(changes)}
            empty={`Revisions ${older.revision} and ${newer.revision} of ${cliName(app)} are the same.`}
          />
        )}
      </Loaded>
    </Section>
  );
}
