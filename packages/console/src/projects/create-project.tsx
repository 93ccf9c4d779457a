import { Select, TextInput } from "@mantine/core";
import { useFleet } from "../clusters/fleet.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { isGivenUp } from "../status/status.ts";

/** Creates a project: a cluster and a name. The policy is the cluster's, and can be changed later. */
export function CreateProject(props: {
  /** Chosen before anybody chooses. */
  readonly clusterId: string | undefined;
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}) {
  const org = useOrg();
  const may = useMay();
  const usable = (useFleet(org.id).data?.data ?? []).filter(
    ({ id, status }) => !isGivenUp(status) && may("createProject", { clusterId: id }),
  );
  /** The only cluster is chosen by itself. */
  const clusterOf = (typed: { readonly cluster_id: string | null }) =>
    usable.find(({ id }) => id === typed.cluster_id) ?? (usable.length === 1 ? usable[0] : undefined);
  return (
    <ActionDialog
      onClose={props.onClose}
      title="Create a project"
      operation="createProject"
      values={{ cluster_id: props.clusterId ?? null, name: "" }}
      input={(typed) => ({ body: { name: typed.name.trim(), cluster_id: clusterOf(typed)?.id ?? "" } })}
      action="Create project"
      isReady={(typed) => clusterOf(typed) !== undefined && typed.name.trim() !== ""}
      named={usable}
      onDone={({ id }) => props.onCreated(id)}
    >
      {({ field, values }) => (
        <>
          <Select
            label="Cluster"
            placeholder="Choose a cluster"
            data={usable.map(({ id, name }) => ({ value: id, label: name }))}
            limit={50}
            searchable
            required
            allowDeselect={false}
            nothingFoundMessage="You may create projects on no cluster of this name."
            {...field("cluster_id")}
            value={clusterOf(values)?.id ?? null}
          />
          <TextInput
            label="Name"
            description="Lower-case letters, digits and hyphens. It is the namespace on the cluster, and cannot be changed."
            placeholder="shop"
            maxLength={63}
            required
            data-autofocus
            {...field("name")}
          />
        </>
      )}
    </ActionDialog>
  );
}
