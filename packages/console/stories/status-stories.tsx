import { Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import {
  SuspendDialog,
  SuspensionBadge,
  SuspensionButton,
  SuspensionNotice,
  UnsuspendDialog,
} from "../src/components/suspension.tsx";
import { ReasonAdvice } from "../src/status/reason-advice.tsx";
import * as status from "../src/status/status.ts";
import { Basis, StatusBadge, StatusCell, ToneIcon } from "../src/status/status-badge.tsx";

export interface Story {
  readonly name: string;
  readonly render: () => ReactNode;
}

export const AT = "2026-01-02T03:04:05Z";

const STATUSES = {
  App: status.APP_PHASE,
  Component: status.COMPONENT_PHASE,
  Cluster: status.CLUSTER_STATUS,
  Project: status.PROJECT_LIFECYCLE,
  Addon: status.ADDON_PHASE,
  Drift: status.DRIFT_STATE,
  Deployment: status.DEPLOYMENT_STATUS,
  Resource: status.RESOURCE_STATUS,
};
const OBSERVED: readonly status.Observed[] = [
  { stale: false, observed_at: AT, generation: 7, observed_generation: 7 },
  { stale: false, observed_at: AT, generation: 7, observed_generation: 6 },
  { stale: true, observed_at: AT, generation: 7, observed_generation: 7 },
  { stale: false, observed_at: null, generation: 1, observed_generation: null },
];

const words: readonly Story[] = Object.entries(STATUSES).map(([of, table]) => ({
  name: `Status of ${of}`,
  render: () => (
    <Stack>
      {Object.entries<status.StatusView>(table).map(([key, each]) => (
        <Group key={key}>
          {(["sm", "md", "lg"] as const).map((size) => (
            <StatusBadge key={size} status={each} size={size} />
          ))}
          <StatusCell status={each} reason="Why it is so" />
          <ToneIcon tone={each.tone} />
        </Group>
      ))}
    </Stack>
  ),
}));

const SUSPENSION = {
  scope: "project",
  by: "ada@example.com",
  at: AT,
  reason: "Incident 42: the database is being restored.",
  state: "in_effect",
} as const;
const HARBOUR = { id: "01932c07-31f1-7a4e-8d8b-000000000001", name: "harbour" };
const ASKED = { scope: "project", name: "harbour", address: { id: HARBOUR.id }, onClose: () => undefined } as const;

const suspensions: readonly Story[] = [
  {
    name: "Suspension",
    render: () => (
      <Stack>
        {([SUSPENSION, { ...SUSPENSION, reason: null, by: null, state: "not_in_effect" }, null] as const).map((of) => (
          <Group key={of?.state ?? "none"}>
            <SuspensionBadge of={of} />
            <SuspensionButton scope="project" of={{ ...HARBOUR, suspended: of }} />
            <SuspensionNotice of={of} />
          </Group>
        ))}
      </Stack>
    ),
  },
  { name: "Suspension: begin", render: () => <SuspendDialog {...ASKED} operation="suspendProject" /> },
  { name: "Suspension: end", render: () => <UnsuspendDialog {...ASKED} operation="unsuspendProject" /> },
];

export const STATUS_STORIES: readonly Story[] = [
  ...words,
  ...suspensions,
  {
    name: "Advice on a reason",
    render: () =>
      ["StartError", "Unschedulable", "ReasonOfTomorrow", "RolloutComplete", null].map((reason) => (
        <Text key={reason} component="div">
          <ReasonAdvice reason={reason} message={null} />
        </Text>
      )),
  },
  {
    name: "Basis of a status",
    render: () =>
      OBSERVED.map((of) => (
        <Group key={JSON.stringify(of)}>
          <StatusBadge status={status.confirmedStatus(status.APP_PHASE.running, of)} />
          <Basis of={of} prefix="App: " />
        </Group>
      )),
  },
];
