import { commandLine } from "@binnacle/cli/command-line";
import type { Answer, MatrixMember } from "@binnacle/client";
import { Group, Stack, Table, Text, Tooltip } from "@mantine/core";
import { IconArrowDownRight } from "@tabler/icons-react";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { ChoiceFilter, SearchFilter } from "../components/filters.tsx";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { cellOf, type MatrixPlace, membersWith, placesOf } from "./role-matrix.ts";

/** More would be too wide to read; the filter finds the rest. */
const MOST_PLACES = 40;
const MOST_MEMBERS = 200;

/** Who has which role on which cluster and project, and why. */
export function RoleMatrix() {
  const org = useOrg();
  const matrix = useRead("getRoleMatrix", { id: org.id });
  const clusters = useAll("listClusters", { org_id: org.id });
  const names = new Map((clusters.data ?? []).map(({ id, name }) => [id, name]));
  return <Loaded of={matrix}>{(data) => <MatrixView matrix={data} clusterNames={names} />}</Loaded>;
}

function MatrixView(props: {
  readonly matrix: Answer<"getRoleMatrix">;
  readonly clusterNames: ReadonlyMap<string, string>;
}) {
  const { matrix, clusterNames } = props;
  const [search] = usePageSearch();
  const places = placesOf(matrix.data, clusterNames);
  const members = membersWith(matrix.data, search["q"] ?? "");
  const chosen = places.filter(({ clusterId }) => !search["cluster"] || clusterId === search["cluster"]);
  const clusters = new Map(places.map(({ clusterId }) => [clusterId, clusterNames.get(clusterId) ?? clusterId]));
  const shownPlaces = chosen.slice(0, MOST_PLACES);
  const shownMembers = members.slice(0, MOST_MEMBERS);
  const isCut = shownPlaces.length < chosen.length || shownMembers.length < members.length;
  return (
    <Stack>
      <Group gap="xs">
        <SearchFilter label="Filter members by name or email" />
        <ChoiceFilter
          name="cluster"
          label="All clusters"
          choices={[...clusters].map(([value, label]) => ({ value, label }))}
        />
      </Group>
      {places.length === 0 ? (
        <EmptyState
          title="No roles on clusters or projects yet"
          command={commandLine("grantProjectRole", { id: "…", body: { user_id: "…", role: "viewer" } })}
        >
          Administrators may do everything. Others need a role on a cluster or a project, which is granted on its page.
        </EmptyState>
      ) : null}
      {matrix.next_cursor ? (
        <Text size="sm" c="dimmed" role="status">
          These are the first {matrix.data.length} of {matrix.total_count} members, by name. The command line lists all
          of them.
        </Text>
      ) : null}
      {isCut ? (
        <Text size="sm" c="dimmed" role="status">
          {shownMembers.length} of {members.length} members and {shownPlaces.length} of {chosen.length} places are
          shown. Use the filters to find the others.
        </Text>
      ) : null}
      <Table.ScrollContainer minWidth={500} type="native">
        <Table stickyHeader withTableBorder withColumnBorders aria-label="Roles" bg="var(--mantine-color-body)">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Member</Table.Th>
              <Table.Th>Organization</Table.Th>
              {shownPlaces.map((place) => (
                <PlaceHeader key={place.id} place={place} cluster={clusterNames.get(place.clusterId)} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shownMembers.map((member) => (
              <MemberRow key={member.user_id} member={member} places={shownPlaces} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group gap={4}>
        <IconArrowDownRight size={14} aria-hidden />
        <Text size="xs" c="dimmed">
          comes from the organization or the cluster. Hover or focus a role to see why somebody has it.
        </Text>
      </Group>
    </Stack>
  );
}

function PlaceHeader({ place, cluster }: { readonly place: MatrixPlace; readonly cluster: string | undefined }) {
  return (
    <Table.Th style={{ minWidth: 110 }}>
      <Text size="xs" c="dimmed" fw={400}>
        {place.kind === "cluster" ? "Cluster" : `Project on ${cluster ?? "a cluster"}`}
      </Text>
      {place.name}
    </Table.Th>
  );
}

function MemberRow({ member, places }: { readonly member: MatrixMember; readonly places: readonly MatrixPlace[] }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <Text size="sm" fw={600}>
          {member.name}
        </Text>
        <Text size="xs" c="dimmed">
          {member.email}
        </Text>
      </Table.Th>
      <Table.Td>{member.role === "admin" ? "Administrator" : "Member"}</Table.Td>
      {places.map((place) => {
        const cell = cellOf(member, place);
        return (
          <Table.Td key={place.id}>
            {cell ? (
              <Tooltip label={cell.why} events={{ hover: true, focus: true, touch: true }}>
                <Group gap={4} wrap="nowrap" component="span" tabIndex={0} aria-label={`${cell.role}: ${cell.why}`}>
                  {cell.isInherited ? <IconArrowDownRight size={14} aria-hidden /> : null}
                  <Text size="sm" component="span" c={cell.isInherited ? "dimmed" : "inherit"}>
                    {cell.role}
                  </Text>
                </Group>
              </Tooltip>
            ) : (
              <Text size="sm" c="dimmed" component="span" aria-label="No role">
                —
              </Text>
            )}
          </Table.Td>
        );
      })}
    </Table.Tr>
  );
}
