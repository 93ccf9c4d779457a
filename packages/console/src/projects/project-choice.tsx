import type { OperationName } from "@binnacle/client";
import { Button, Group, Select, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { TextLink } from "../components/links.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { isGivenUp, isGoing } from "../status/status.ts";
import { CreateProject } from "./create-project.tsx";

interface Props {
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
  /** Only projects in which the caller may do this are offered. */
  readonly to: OperationName;
  readonly problem?: string | undefined;
  readonly description?: string;
}

/** A project of the organization, or a new one. */
export function ProjectChoice(props: Props) {
  const { value, onChange, to, problem } = props;
  const { description = "The place where it runs: a namespace on one of your clusters." } = props;
  const org = useOrg();
  const may = useMay();
  const [isCreating, setCreating] = useState(false);
  const projects = useAll("listProjects", { org_id: org.id });
  const clusters = useAll("listClusters", { org_id: org.id });
  const clusterName = new Map((clusters.data ?? []).map(({ id, name }) => [id, name]));
  const offered = (projects.data ?? []).filter(
    ({ id, cluster_id, lifecycle }) => !isGoing(lifecycle) && may(to, { clusterId: cluster_id, projectId: id }),
  );
  const mayCreate = (clusters.data ?? []).filter(
    ({ id, status }) => !isGivenUp(status) && may("createProject", { clusterId: id }),
  );
  const hasNone = projects.data !== undefined && offered.length === 0;
  const noneText = projects.data?.length ? "There is no project that you can use" : "There is no project yet";
  const [only, ...others] = offered;
  const preset = value === null && only && others.length === 0 ? only.id : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: where there is one project, it is chosen once.
  useEffect(() => {
    if (preset !== null) onChange(preset);
  }, [preset]);

  return (
    <div>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <Select
          label="Project"
          description={description}
          withAsterisk
          searchable
          style={{ flex: 1, minWidth: 0 }}
          placeholder={projects.isPending ? "Loading" : hasNone ? noneText : "Choose a project"}
          nothingFoundMessage="No project has this name."
          data={offered.map(({ id, name, cluster_id }) => ({
            value: id,
            label: `${name} on ${clusterName.get(cluster_id) ?? "a cluster"}`,
          }))}
          value={value}
          onChange={onChange}
          error={problem !== undefined}
        />
        {mayCreate.length > 0 ? (
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setCreating(true)}
            aria-label="New project"
          >
            New
          </Button>
        ) : null}
      </Group>
      {problem ? (
        <Text size="xs" c="var(--tone-bad)" mt={4}>
          {problem}
        </Text>
      ) : null}
      {hasNone && mayCreate.length === 0 && clusters.data ? <NoProject hasCluster={clusters.data.length > 0} /> : null}
      {isCreating ? (
        <CreateProject clusterId={mayCreate[0]?.id} onClose={() => setCreating(false)} onCreated={onChange} />
      ) : null}
    </div>
  );
}

/** What keeps somebody from choosing a project, and who can help. */
function NoProject({ hasCluster }: { readonly hasCluster: boolean }) {
  const org = useOrg();
  const may = useMay();
  return (
    <Text size="xs" c="dimmed" mt={4} data-prose>
      {hasCluster ? (
        "You have no project to use. Ask an administrator for a role on one."
      ) : may("createCluster") ? (
        <>
          A project needs a cluster, and the organization has none.{" "}
          <TextLink size="xs" to={`/o/${org.slug}/clusters/new`}>
            Add a cluster first
          </TextLink>
          .
        </>
      ) : (
        "A project needs a cluster, and the organization has none that you may see. Ask an administrator for one."
      )}
    </Text>
  );
}
