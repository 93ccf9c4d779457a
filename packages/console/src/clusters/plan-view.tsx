import type { Input, ProvisioningPlan } from "@binnacle/client";
import { Alert, Button, Group, Loader, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useChange, useRead } from "../api/queries.runner.ts";
import { FailurePanel } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { ShortTable } from "../components/short-table.tsx";
import { useMay } from "../frame/org.tsx";
import { estimateText, planText } from "./cluster-labels.ts";

/** What a plan changes, resource by resource, and what the cluster would cost. */
export function PlanView({ plan }: { readonly plan: ProvisioningPlan }) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        {planText(plan)} Planned <Moment at={plan.planned_at} />.
      </Text>
      {plan.estimate ? <Text size="sm">{estimateText(plan.estimate)}</Text> : null}
      <ShortTable
        label="Planned changes"
        rows={plan.changes}
        keyOf={({ action, address }) => `${action} ${address}`}
        minWidth={480}
        columns={[
          {
            title: "Change",
            render: ({ action }) =>
              action === "delete" || action === "replace" ? (
                <span style={{ color: "var(--tone-bad)" }}>{action}</span>
              ) : (
                action
              ),
          },
          { title: "Resource", render: ({ address }) => address },
          { title: "Id at the provider", render: ({ id }) => id ?? "—" },
        ]}
        empty={null}
      />
      <ShortTable
        label="Volumes"
        rows={plan.volumes}
        keyOf={({ id }) => id}
        minWidth={480}
        columns={[
          {
            title: "Data",
            render: ({ action }) =>
              action === "delete" ? <span style={{ color: "var(--tone-bad)" }}>lost</span> : "kept",
          },
          { title: "Claim", render: ({ claim, id }) => claim ?? id },
          { title: "On", render: ({ node, id }) => node ?? id },
          { title: "Why", render: ({ reason }) => reason },
        ]}
        empty={null}
      />
    </Stack>
  );
}

interface Preview {
  readonly clusterId: string;
  readonly body: Input<"planCluster">["body"];
  /** Told with the job of a plan that is shown, to which the change is bound from then on. */
  readonly onShown: (planJobId: string) => void;
}

/** Has a change planned before somebody makes it. Nothing is changed by it. */
export function PlanPreview({ clusterId, body, onShown }: Preview) {
  const may = useMay();
  const start = useChange("planCluster");
  const [jobId, setJobId] = useState<string | null>(null);
  if (!may("planCluster", { clusterId })) return null;
  if (jobId !== null) return <PlanInTheMaking jobId={jobId} onShown={onShown} />;
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

function PlanInTheMaking({ jobId, onShown }: { readonly jobId: string } & Pick<Preview, "onShown">) {
  const [isOver, setOver] = useState(false);
  const job = useRead("getProvisioningJob", { id: jobId }, { refetchMs: isOver ? undefined : 1_000 });
  const status = job.data?.status;
  const hasEnded = status === "succeeded" || status === "failed";
  if (hasEnded && !isOver) setOver(true);
  const plan = useRead("getProvisioningPlan", { id: jobId }, { enabled: status === "succeeded" });
  const isShown = plan.data !== undefined;
  useEffect(() => {
    if (isShown) onShown(jobId);
  }, [isShown, jobId, onShown]);
  if (plan.data) {
    return (
      <>
        <PlanView plan={plan.data} />
        <Text size="sm" c="dimmed">
          Only this is changed. Where it would be anything else by then, nothing is.
        </Text>
      </>
    );
  }
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
