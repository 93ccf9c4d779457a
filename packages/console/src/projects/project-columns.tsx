import type { ItemOf } from "@binnacle/client";
import { projectAddress } from "../components/addresses.ts";
import { RowLink } from "../components/links.tsx";
import { type Column, STATUS_WIDTH } from "../components/list-table.tsx";
import { confirmedStatus, PROJECT_LIFECYCLE } from "../status/status.ts";
import { Basis, StatusCell } from "../status/status-badge.tsx";

/** What every list of projects begins with. */
export const projectColumns = (org: string): readonly Column<ItemOf<"listProjects">>[] => [
  {
    title: "Name",
    width: "minmax(120px, 2fr)",
    render: (project) => <RowLink to={projectAddress(org, project.id)}>{project.name}</RowLink>,
  },
  {
    title: "Lifecycle",
    width: STATUS_WIDTH,
    render: (project) => (
      <StatusCell
        status={confirmedStatus(PROJECT_LIFECYCLE[project.lifecycle], project)}
        reason={project.lifecycle_message}
      />
    ),
  },
  { title: "Based on", width: "minmax(110px, 1fr)", from: "tablet", render: (project) => <Basis of={project} /> },
];
