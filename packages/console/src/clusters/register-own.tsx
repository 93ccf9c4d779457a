import type { CreatedCluster } from "@binnacle/client";
import { Alert, Code, Group, List, Loader, Stack, Text, TextInput } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconClockExclamation } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { clusterAddress } from "../components/addresses.ts";
import { OperationForm } from "../components/form.tsx";
import { ButtonLink, TextLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { useNow } from "../components/moment.tsx";
import { Section } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { connectionWait } from "./cluster-labels.ts";
import { SecretOnce } from "./secret-once.tsx";

/** Registers a cluster that exists already, and waits for its operator. */
export function RegisterOwn() {
  const org = useOrg();
  const [search, choose] = usePageSearch();
  // The answer holds the connection token, so it is kept here alone: neither in the cache of reads nor in the address.
  const [created, setCreated] = useState<CreatedCluster | null>(null);
  const id = search["cluster"];
  if (id !== undefined) return <Waiting id={id} command={created?.id === id ? created.install_command : null} />;
  return (
    <Section title="Name the cluster">
      <OperationForm
        operation="createCluster"
        values={{ name: "" }}
        input={({ name }) => ({ org_id: org.id, body: { name: name.trim() } })}
        action="Register"
        isReady={({ name }) => name.trim() !== ""}
        onDone={(answer) => {
          setCreated(answer);
          choose({ cluster: answer.id });
        }}
      >
        {({ field }) => (
          <TextInput
            label="Name"
            description="As people know it, such as production. It can be changed later."
            placeholder="production"
            maxLength={100}
            maw={520}
            required
            data-autofocus
            {...field("name")}
          />
        )}
      </OperationForm>
    </Section>
  );
}

function Waiting({ id, command }: { readonly id: string; readonly command: string | null }) {
  const cluster = useRead("getCluster", { id }, { refetchMs: 10_000 });
  return (
    <Stack>
      {command === null ? (
        <Alert color="gray" title="The command was shown once">
          It holds the connection token, which is not kept. If you need it again, rotate the token on the{" "}
          <SettingsLink id={id} />.
        </Alert>
      ) : (
        <Section title="Install the operator">
          <Stack gap="sm">
            <Text size="sm">
              Run this where <Code>kubectl</Code> and <Code>helm</Code> point at the cluster. It installs the operator
              in the namespace <Code>binnacle-system</Code>; the operator connects to this server, and nothing connects
              to the cluster from outside.
            </Text>
            <SecretOnce text={command} label="Copy the install command" />
          </Stack>
        </Section>
      )}
      <Loaded of={cluster}>{(read) => <Connection cluster={read} />}</Loaded>
    </Stack>
  );
}

function SettingsLink({ id }: { readonly id: string }) {
  const org = useOrg();
  return (
    <TextLink to={clusterAddress(org.slug, id)} search={{ tab: "settings" }} isInText>
      settings of the cluster
    </TextLink>
  );
}

type Read = Parameters<typeof connectionWait>[0] & {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
};

function Connection({ cluster }: { readonly cluster: Read }) {
  const org = useOrg();
  const now = useNow();
  const wait = connectionWait(cluster, (now - Date.parse(cluster.created_at)) / 1_000);
  const icon = {
    waiting: <Loader size="sm" />,
    late: <IconClockExclamation color="var(--tone-warning)" aria-hidden />,
    failed: <IconCircleX color="var(--tone-bad)" aria-hidden />,
    connected: <IconCircleCheck color="var(--tone-good)" aria-hidden />,
  }[wait.state];
  return (
    <Section title="Connection">
      <Stack gap="sm">
        <Group gap="sm" role="status" wrap="nowrap">
          {icon}
          <Text fw={600}>
            {cluster.name}: {wait.text}
          </Text>
        </Group>
        {wait.state === "late" ? <Troubleshooting id={cluster.id} /> : null}
        <Group>
          <ButtonLink
            to={clusterAddress(org.slug, cluster.id)}
            variant={wait.state === "connected" ? "filled" : "default"}
          >
            Open the cluster
          </ButtonLink>
          {wait.state === "connected" ? (
            <ButtonLink to={`/o/${org.slug}/projects`} search={{ new: cluster.id }} variant="default">
              Create a project on it
            </ButtonLink>
          ) : null}
        </Group>
      </Stack>
    </Section>
  );
}

function Troubleshooting({ id }: { readonly id: string }) {
  const instructions = useRead("getInstallInstructions", { id });
  const namespace = instructions.data?.namespace ?? "binnacle-system";
  return (
    <List size="sm" spacing="xs">
      <List.Item>
        Does the pod of the operator run? <Code>kubectl -n {namespace} get pods</Code>. An image that cannot be pulled,
        or too little room on the nodes, is shown there.
      </List.Item>
      <List.Item>
        What does the operator say? <Code>kubectl -n {namespace} logs deployment/binnacle-operator</Code>
      </List.Item>
      <List.Item>
        Can the cluster reach{" "}
        {instructions.data ? <Code>{instructions.data.hub_url}</Code> : "the address of this server"}? Firewalls and
        proxies must let WebSocket connections out. An address such as 127.0.0.1 is reachable from this machine alone.
      </List.Item>
      <List.Item>
        Does the operator say that its token is refused? Then the token was rotated: rotate it again on the{" "}
        <SettingsLink id={id} /> and run the new command.
      </List.Item>
    </List>
  );
}
