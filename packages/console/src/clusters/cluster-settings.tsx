import type { Cluster, ClusterSettings as Settings } from "@binnacle/client";
import { Button, Group, Select, Stack, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange, useRead } from "../api/queries.runner.ts";
import { useMay } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { Facts, Section } from "../parts/page.tsx";
import { ClusterDanger } from "./cluster-danger.tsx";
import { chartLines, chartsOf, POD_SECURITY } from "./policy-words.ts";

/** The name of a cluster, what holds for all of its projects, and what cannot be undone. */
export function ClusterSettings({ cluster }: { readonly cluster: Cluster }) {
  const may = useMay();
  const place = { clusterId: cluster.id };
  const settings = useRead("getClusterSettings", { id: cluster.id });
  const mayChange = (operation: "updateCluster" | "updateClusterSettings") =>
    cluster.status !== "abandoned" && may(operation, place);
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
  const change = useChange("updateCluster");
  const [name, setName] = useState(cluster.name);
  const [description, setDescription] = useState(cluster.description ?? "");
  const input = { id: cluster.id, body: { name: name.trim(), description: description.trim() || null } };
  const isChanged = input.body.name !== cluster.name || input.body.description !== cluster.description;
  const fields = change.error ? failureView(change.error).fields : {};

  function send(event: FormEvent): void {
    event.preventDefault();
    change.mutate(input, { onSuccess: () => notifications.show({ message: "Saved.", color: "green" }) });
  }

  return (
    <Section title="Name">
      <form onSubmit={send}>
        <Stack maw={620}>
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fields["name"]}
            maxLength={100}
            required
          />
          <Textarea
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={fields["description"]}
            maxLength={2000}
            autosize
            minRows={2}
          />
          {change.error && Object.keys(fields).length === 0 ? <FailurePanel error={change.error} /> : null}
          <SameByCommand
            operation="updateCluster"
            input={input}
            command={`binnacle clusters update ${quoted(cluster.name)} --name ${quoted(input.body.name)}`}
          />
          <Group>
            <Button type="submit" loading={change.isPending} disabled={!isChanged || name.trim() === ""}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Policy({ cluster, settings }: { readonly cluster: Cluster; readonly settings: Settings }) {
  const change = useChange("updateClusterSettings");
  const [level, setLevel] = useState(settings.pod_security);
  const [namespaces, setNamespaces] = useState<string[]>([...settings.ingress_namespaces]);
  const [charts, setCharts] = useState(chartLines(settings.cluster_wide_charts).join("\n"));
  const input = {
    id: cluster.id,
    body: { pod_security: level, ingress_namespaces: namespaces, cluster_wide_charts: chartsOf(charts) },
  };
  const fields: Readonly<Record<string, string>> = change.error ? failureView(change.error).fields : {};
  const fieldOf = (name: string) => Object.entries(fields).find(([path]) => path.startsWith(name))?.[1];

  function send(event: FormEvent): void {
    event.preventDefault();
    change.mutate(input, {
      onSuccess: () => notifications.show({ message: "Saved. Every project of the cluster follows.", color: "green" }),
    });
  }

  return (
    <form onSubmit={send}>
      <Stack maw={620}>
        <Select
          label="Pod security"
          description="The level of the Pod Security Standards. The cluster refuses pods that violate it."
          data={[...POD_SECURITY]}
          value={level}
          onChange={(value) => setLevel((value as Settings["pod_security"] | null) ?? level)}
          error={fieldOf("pod_security")}
          allowDeselect={false}
        />
        <TagsInput
          label="Ingress namespaces"
          description="Their pods reach the pods of isolated projects: ingress controllers, and whatever scrapes metrics."
          value={namespaces}
          onChange={setNamespaces}
          error={fieldOf("ingress_namespaces")}
          maxTags={20}
        />
        <Textarea
          label="Cluster-wide charts"
          description="Charts that get rights on the whole cluster instead of their project's alone. One in each line: the repository, a space, the name."
          placeholder="https://charts.example.com cert-manager"
          value={charts}
          onChange={(event) => setCharts(event.currentTarget.value)}
          error={fieldOf("cluster_wide_charts")}
          autosize
          minRows={2}
        />
        <Text size="sm" c="dimmed">
          A change is told to all projects that are there, too. Pods that run are not ended; new ones must comply.
        </Text>
        {change.error && Object.keys(fields).length === 0 ? <FailurePanel error={change.error} /> : null}
        <SameByCommand
          operation="updateClusterSettings"
          input={input}
          command={`binnacle clusters settings update ${quoted(cluster.name)} --pod-security ${level}`}
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
