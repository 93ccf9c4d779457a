import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { useFleet } from "../clusters/fleet.runner.ts";
import { useMay, useOrg } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { projectAddress } from "../parts/addresses.ts";
import { quoted } from "../parts/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";

/** Creates a project: a cluster and a name. The policy is the cluster's, and can be changed later. */
export function CreateProject({ clusterId, onClose }: { readonly clusterId: string; readonly onClose: () => void }) {
  const org = useOrg();
  const may = useMay();
  const navigate = useNavigate();
  const fleet = useFleet(org.id);
  const create = useChange("createProject");
  const usable = (fleet.data?.clusters ?? []).filter(
    ({ id, status }) => status !== "abandoned" && may("createProject", { clusterId: id }),
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const cluster =
    usable.find(({ id }) => id === (chosen ?? clusterId)) ?? (usable.length === 1 ? usable[0] : undefined);
  const input = { body: { name: name.trim(), cluster_id: cluster?.id ?? "" } };
  const fields = create.error ? failureView(create.error).fields : {};
  const isAtField = "name" in fields || "cluster_id" in fields;

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (create.isPending || !cluster) return;
    try {
      const { id } = await create.mutateAsync(input);
      await navigate({ to: projectAddress(org.slug, id) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Dialog opened onClose={onClose} title="Create a project" size="lg">
      <form onSubmit={(event) => void send(event)}>
        <Stack>
          <Select
            label="Cluster"
            placeholder="Choose a cluster"
            data={usable.map(({ id, name: label }) => ({ value: id, label }))}
            value={cluster?.id ?? null}
            onChange={setChosen}
            error={fields["cluster_id"]}
            limit={50}
            searchable
            required
            nothingFoundMessage="You may create projects on no cluster of this name."
          />
          <TextInput
            label="Name"
            description="Lower-case letters, digits and hyphens. It is the namespace on the cluster, and cannot be changed."
            placeholder="shop"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fields["name"]}
            maxLength={63}
            autoComplete="off"
            required
            data-autofocus
          />
          {create.error && !isAtField ? <FailurePanel error={create.error} /> : null}
          <SameByCommand
            operation="createProject"
            input={input}
            command={`binnacle projects create ${quoted(input.body.name || "shop")} --cluster ${quoted(cluster?.name ?? "production")}`}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={!cluster || name.trim() === ""}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
