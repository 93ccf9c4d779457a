import type { ProjectPolicy as Policy, Project } from "@binnacle/client";
import { Select, Stack } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { POD_SECURITY } from "../clusters/policy-labels.ts";
import { OperationForm } from "../components/form.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Facts, Section } from "../components/page.tsx";
import { useMay } from "../frame/org.tsx";
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

const AS_CLUSTER = "as-cluster" as const;

function PolicyForm({ project, policy }: { readonly project: Project; readonly policy: Policy }) {
  return (
    <OperationForm
      operation="updateProjectPolicy"
      values={{ pod_security: policy.pod_security ?? AS_CLUSTER, isolation: policy.isolation }}
      input={({ pod_security, isolation }) => ({
        id: project.id,
        body: { pod_security: pod_security === AS_CLUSTER ? null : pod_security, isolation },
      })}
      action="Save the policy"
      named={[project]}
      done="Saved. The cluster is told."
    >
      {({ field }) => (
        <Stack maw={720}>
          <Select
            label="Pod security"
            description="A level weaker than the cluster's needs an administrator of the organization."
            data={[{ value: AS_CLUSTER, label: "As the cluster" }, ...POD_SECURITY]}
            allowDeselect={false}
            {...field("pod_security")}
          />
          <Select
            label="Network"
            data={[
              { value: "namespace", label: "Isolated: the own namespace and the ingress namespaces of the cluster" },
              { value: "none", label: "Open: everything on the cluster" },
            ]}
            allowDeselect={false}
            {...field("isolation")}
          />
        </Stack>
      )}
    </OperationForm>
  );
}
