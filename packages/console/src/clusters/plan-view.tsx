import type { Input, ProvisioningPlan } from "@binnacle/client";
import { Alert, Button, Group, Loader, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import { useChange, useRead } from "../api/queries.runner.ts";
import { useMay } from "../frame/org.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { WideTable } from "../parts/wide-table.tsx";
import { estimateWords, planWords } from "./cluster-words.ts";

/** What a plan changes, resource by resource, and what the cluster would cost. */
export function PlanView({ plan }: { readonly plan: ProvisioningPlan }) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        {planWords(plan)} Planned <Moment at={plan.planned_at} />.
      </Text>
      {plan.estimate ? <Text size="sm">{estimateWords(plan.estimate)}</Text> : null}
      {plan.changes.length === 0 ? null : (
        <WideTable label="Planned changes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Change</Table.Th>
              <Table.Th>Resource</Table.Th>
              <Table.Th>Id at the provider</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {plan.changes.map(({ action, address, id }) => (
              <Table.Tr key={`${action} ${address}`}>
                <Table.Td {...(action === "delete" || action === "replace" ? { c: "var(--tone-bad)" } : {})}>
                  {action}
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{address}</Table.Td>
                <Table.Td>{id ?? "—"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      )}
    </Stack>
  );
}

interface Preview {
  readonly clusterId: string;
  readonly body: Input<"planCluster">["body"];
}

/** Has a change planned before somebody makes it. Nothing is changed by it. */
export function PlanPreview({ clusterId, body }: Preview) {
  const may = useMay();
  const start = useChange("planCluster");
  const [jobId, setJobId] = useState<string | null>(null);
  if (!may("planCluster", { clusterId })) return null;
  if (jobId !== null) return <PlanInTheMaking jobId={jobId} />;
  return (
    <Stack gap="xs">
      {start.error ? <FailurePanel error={start.error} /> : null}
      <Group>
        <Button
          variant="light"
          loading={start.isPending}
          onClick={() => start.mutate({ id: clusterId, body }, { onSuccess: ({ id }) => setJobId(id) })}
        >
          Show what changes
        </Button>
        <Text size="sm" c="dimmed">
          Plans it and changes nothing.
        </Text>
      </Group>
    </Stack>
  );
}

function PlanInTheMaking({ jobId }: { readonly jobId: string }) {
  const [isOver, setOver] = useState(false);
  const job = useRead("getProvisioningJob", { id: jobId }, { refetchMs: isOver ? undefined : 1_000 });
  const status = job.data?.status;
  const hasEnded = status === "succeeded" || status === "failed";
  if (hasEnded && !isOver) setOver(true);
  const plan = useRead("getProvisioningPlan", { id: jobId }, { enabled: status === "succeeded" });
  if (plan.data) return <PlanView plan={plan.data} />;
  const error = job.error ?? plan.error;
  if (error) return <FailurePanel error={error} />;
  if (status === "failed") {
    return (
      <Alert color="red" title="No plan could be made">
        {job.data?.error_message ?? "No reason was given."}
      </Alert>
    );
  }
  return (
    <Group gap="xs" role="status">
      <Loader size="xs" />
      <Text size="sm">The plan is being made. Nothing is changed.</Text>
    </Group>
  );
}
