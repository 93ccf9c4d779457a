import type { ProjectPolicy as Policy, Project } from "@binnacle/client";
import { Button, Group, Select, SimpleGrid, Stack, Text, TextInput, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange, useRead } from "../api/queries.runner.ts";
import { POD_SECURITY, QUOTA_FIELDS, quotaForm, quotaOf } from "../clusters/policy-words.ts";
import { useMay } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { Facts, Section } from "../parts/page.tsx";

/** What fences a project's namespace: pod security, isolation of the network, and a quota. */
export function ProjectPolicy({ project }: { readonly project: Project }) {
  const may = useMay();
  const policy = useRead("getProjectPolicy", { id: project.id });
  const place = { clusterId: project.cluster_id, projectId: project.id };
  const isEditable = may("updateProjectPolicy", place) && project.lifecycle !== "cleanup_pending";
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
  const caps = QUOTA_FIELDS.filter(({ key }) => policy.quota?.[key] !== undefined);
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
        [
          "Quota",
          caps.length === 0 ? "none" : caps.map(({ key, label }) => `${label} ${policy.quota?.[key]}`).join(", "),
        ],
      ]}
    />
  );
}

const AS_CLUSTER = "as-cluster";

function PolicyForm({ project, policy }: { readonly project: Project; readonly policy: Policy }) {
  // A quota, and a level weaker than the cluster's, are for administrators of the organization.
  const maySetQuota = useMay()("deleteProject", { clusterId: project.cluster_id, projectId: project.id });
  const change = useChange("updateProjectPolicy");
  const [level, setLevel] = useState<string>(policy.pod_security ?? AS_CLUSTER);
  const [isolation, setIsolation] = useState(policy.isolation);
  const [quota, setQuota] = useState(quotaForm(policy.quota));
  const input = {
    id: project.id,
    body: {
      pod_security: level === AS_CLUSTER ? null : (level as Policy["effective_pod_security"]),
      isolation,
      ...(maySetQuota ? { quota: quotaOf(quota) } : {}),
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
        {maySetQuota ? (
          <div>
            <Title order={3} size="h5">
              Quota
            </Title>
            <Text size="sm" c="dimmed" mb="xs">
              Caps on everything in the namespace together. Empty fields cap nothing; without any, there is no quota.
            </Text>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              {QUOTA_FIELDS.map(({ key, label, example }) => (
                <TextInput
                  key={key}
                  label={label}
                  placeholder={example}
                  value={quota[key] ?? ""}
                  onChange={(event) => setQuota({ ...quota, [key]: event.currentTarget.value })}
                  error={fields[`quota.${key}`]}
                />
              ))}
            </SimpleGrid>
          </div>
        ) : null}
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
