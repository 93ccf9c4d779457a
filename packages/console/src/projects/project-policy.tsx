import type { ProjectPolicy as Policy, Project } from "@binnacle/client";
import { Button, Group, Select, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange, useRead } from "../api/queries.runner.ts";
import { POD_SECURITY } from "../clusters/policy-words.ts";
import { useMay } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { Facts, Section } from "../parts/page.tsx";
import { isGoing } from "../status/status.ts";

/** What fences a project's namespace: pod security and isolation of the network. */
export function ProjectPolicy({ project }: { readonly project: Project }) {
  const may = useMay();
  const policy = useRead("getProjectPolicy", { id: project.id });
  const place = { clusterId: project.cluster_id, projectId: project.id };
  const isEditable = may("updateProjectPolicy", place) && !isGoing(project.lifecycle);
  return (
    <Loaded of={policy}>
      {(read) => (
        <Stack>
          <Section title="In force">
            <InForce policy={read} />
          </Section>
          {isEditable ? (
            <Section title="Change the policy">
              {/* A policy that somebody else has changed is shown anew. */}
              <PolicyForm key={JSON.stringify(read)} project={project} policy={read} />
            </Section>
          ) : null}
        </Stack>
      )}
    </Loaded>
  );
}

function InForce({ policy }: { readonly policy: Policy }) {
  return (
    <Facts
      of={[
        ["Pod security", `${policy.effective_pod_security}${policy.pod_security === null ? ", as the cluster" : ""}`],
        [
          "Network",
          policy.isolation === "namespace"
            ? `isolated: lets in its own namespace and ${policy.ingress_namespaces.join(", ") || "nobody else"}`
            : "open: lets in traffic from everywhere on the cluster",
        ],
      ]}
    />
  );
}

const AS_CLUSTER = "as-cluster";

function PolicyForm({ project, policy }: { readonly project: Project; readonly policy: Policy }) {
  const change = useChange("updateProjectPolicy");
  const [level, setLevel] = useState<string>(policy.pod_security ?? AS_CLUSTER);
  const [isolation, setIsolation] = useState(policy.isolation);
  const input = {
    id: project.id,
    body: {
      pod_security: level === AS_CLUSTER ? null : (level as Policy["effective_pod_security"]),
      isolation,
    },
  };
  const fields: Readonly<Record<string, string>> = change.error ? failureView(change.error).fields : {};

  function send(event: FormEvent): void {
    event.preventDefault();
    change.mutate(input, {
      onSuccess: () => notifications.show({ message: "Saved. The cluster is told.", color: "green" }),
    });
  }

  return (
    <form onSubmit={send}>
      <Stack maw={720}>
        <Select
          label="Pod security"
          description="A level weaker than the cluster's needs an administrator of the organization."
          data={[{ value: AS_CLUSTER, label: "As the cluster" }, ...POD_SECURITY]}
          value={level}
          onChange={(value) => setLevel(value ?? level)}
          error={fields["pod_security"]}
          allowDeselect={false}
        />
        <Select
          label="Network"
          data={[
            { value: "namespace", label: "Isolated: the own namespace and the ingress namespaces of the cluster" },
            { value: "none", label: "Open: everything on the cluster" },
          ]}
          value={isolation}
          onChange={(value) => setIsolation((value as Policy["isolation"] | null) ?? isolation)}
          error={fields["isolation"]}
          allowDeselect={false}
        />
        {change.error && !Object.keys(fields).some((path) => path !== "") ? (
          <FailurePanel error={change.error} />
        ) : null}
        <SameByCommand
          operation="updateProjectPolicy"
          input={input}
          command={`binnacle projects policy update ${quoted(project.name)} --isolation ${isolation}`}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Save the policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
