import type { AppSummary } from "@binnacle/client";
import { Group } from "@mantine/core";
import { appAddress, appSearch } from "../components/addresses.ts";
import { RowLink } from "../components/links.tsx";
import { type Column, Dimmed, STATUS_WIDTH } from "../components/list-table.tsx";
import { Moment } from "../components/moment.tsx";
import { appStatus, SUSPENDED } from "../status/status.ts";
import { StatusBadge, StatusCell } from "../status/status-badge.tsx";

/** What every list of apps shows of them; each takes the columns that it has room for. */
export const appColumns = (org: string) =>
  ({
    name: {
      title: "Name",
      width: "minmax(90px, 1.8fr)",
      sort: "name",
      render: (app) => (
        <RowLink to={appAddress(org, app)} search={appSearch(app)}>
          {app.name}
        </RowLink>
      ),
    },
    status: {
      title: "Status",
      width: STATUS_WIDTH,
      sort: "phase",
      render: (app) => (
        <Group gap={4} wrap="nowrap">
          <StatusCell status={appStatus(app)} reason={app.phase_message} />
          {app.suspended ? <StatusBadge status={SUSPENDED} size="sm" /> : null}
        </Group>
      ),
    },
    ready: { title: "Ready", width: "52px", from: "tablet", render: ({ ready, desired }) => `${ready}/${desired}` },
    deployed: {
      title: "Last deployment",
      width: "190px",
      sort: "deployed_at",
      from: "tablet",
      render: ({ last_deployment: last }) =>
        last ? (
          <Dimmed>
            <Moment at={last.created_at} /> by {last.created_by ?? "the system"}
          </Dimmed>
        ) : (
          "—"
        ),
    },
  }) satisfies Record<string, Column<AppSummary>>;
