import type { Cluster, ClusterSettings as Settings } from "@binnacle/client";
import { Select, Stack, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { changedFields, OperationForm } from "../components/form.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Facts, Section } from "../components/page.tsx";
import { useMay } from "../frame/org.tsx";
import { isGivenUp } from "../status/status.ts";
import { ClusterDanger } from "./cluster-danger.tsx";
import { chartLines, chartsOf, POD_SECURITY } from "./policy-labels.ts";

/** The name of a cluster, what holds for all of its projects, and what cannot be undone. */
export function ClusterSettings({ cluster }: { readonly cluster: Cluster }) {
  const may = useMay();
  const place = { clusterId: cluster.id };
  const settings = useRead("getClusterSettings", { id: cluster.id });
  const mayChange = (operation: "updateCluster" | "updateClusterSettings") =>
    !isGivenUp(cluster.status) && may(operation, place);
  return (
    <Stack>
      {mayChange("updateCluster") ? <Name cluster={cluster} /> : null}
      <Section title="Policy of its projects">
        <Loaded of={settings}>
          {(read) =>
            mayChange("updateClusterSettings") ? (
              <Policy key={JSON.stringify(read)} cluster={cluster} settings={read} />
            ) : (
              <Facts
                of={[
                  ["Pod security", read.pod_security],
                  ["Ingress namespaces", read.ingress_namespaces.join(", ") || "none"],
                  ["Cluster-wide charts", chartLines(read.cluster_wide_charts).join(", ") || "none"],
                ]}
              />
            )
          }
        </Loaded>
      </Section>
      <ClusterDanger cluster={cluster} />
    </Stack>
  );
}

function Name({ cluster }: { readonly cluster: Cluster }) {
  const before = { name: cluster.name, description: cluster.description };
  const bodyOf = (typed: { readonly name: string; readonly description: string }) =>
    changedFields(before, { name: typed.name.trim(), description: typed.description.trim() || null });
  return (
    <Section title="Name">
      <OperationForm
        operation="updateCluster"
        values={{ name: cluster.name, description: cluster.description ?? "" }}
        input={(typed) => ({ id: cluster.id, body: bodyOf(typed) })}
        action="Save"
        isReady={(typed) => typed.name.trim() !== "" && Object.keys(bodyOf(typed)).length > 0}
        named={[cluster]}
        done="Saved."
      >
        {({ field }) => (
          <Stack maw={620}>
            <TextInput label="Name" maxLength={100} required {...field("name")} />
            <Textarea label="Description" maxLength={2000} autosize minRows={2} {...field("description")} />
          </Stack>
        )}
      </OperationForm>
    </Section>
  );
}

function Policy({ cluster, settings }: { readonly cluster: Cluster; readonly settings: Settings }) {
  const { pod_security, ingress_namespaces, cluster_wide_charts } = settings;
  return (
    <OperationForm
      operation="updateClusterSettings"
      values={{ pod_security, ingress_namespaces, cluster_wide_charts: chartLines(cluster_wide_charts).join("\n") }}
      input={(typed) => ({
        id: cluster.id,
        body: { ...typed, cluster_wide_charts: chartsOf(typed.cluster_wide_charts) },
      })}
      action="Save the policy"
      named={[cluster]}
      done="Saved. Every project of the cluster follows."
    >
      {({ field }) => (
        <Stack maw={620}>
          <Select
            label="Pod security"
            description="The level of the Pod Security Standards. The cluster refuses pods that violate it."
            data={[...POD_SECURITY]}
            allowDeselect={false}
            {...field("pod_security")}
          />
          <TagsInput
            label="Ingress namespaces"
            description="Their pods reach the pods of isolated projects: ingress controllers, and whatever scrapes metrics."
            maxTags={20}
            {...field("ingress_namespaces")}
          />
          <Textarea
            label="Cluster-wide charts"
            description="Charts that get rights on the whole cluster instead of their project's alone. One in each line: the repository, a space, the name."
            placeholder="https://charts.example.com cert-manager"
            autosize
            minRows={2}
            {...field("cluster_wide_charts")}
          />
          <Text size="sm" c="dimmed">
            A change is told to all projects that are there, too. Pods that run are not ended; new ones must comply.
          </Text>
        </Stack>
      )}
    </OperationForm>
  );
}
