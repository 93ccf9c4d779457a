import type { CreatedCluster } from "@binnacle/client";
import { Alert, Button, Group, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange, useRead } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { clusterAddress, jobAddress } from "../parts/addresses.ts";
import { quoted } from "../parts/commands.ts";
import { ButtonLink } from "../parts/links.tsx";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { EmptyState, Section } from "../parts/page.tsx";

/** Kinds of machines that suit a cluster of a certain size; any other can be typed. */
const MACHINES = ["t3.medium", "t3.large", "t3.xlarge", "m7i.large", "m7i.xlarge", "m7i.2xlarge"];

/** Has a cluster created in an AWS account, by a job that can be followed. */
export function RegisterAws() {
  const org = useOrg();
  const credentials = useRead("listCredentials", { id: org.id, items_per_page: 100 });
  return (
    <Loaded of={credentials}>
      {({ data }) => {
        const usable = data.filter(({ provider }) => provider === "aws");
        return usable.length === 0 ? (
          <EmptyState
            title="No credential for AWS"
            action={
              <ButtonLink to={`/o/${org.slug}/credentials`} variant="light">
                Go to credentials
              </ButtonLink>
            }
            command="binnacle credentials create aws --provider aws"
          >
            A credential is an access key of your account. It is sealed at rest and never shown again.
          </EmptyState>
        ) : (
          <AwsForm credentials={usable} />
        );
      }}
    </Loaded>
  );
}

function AwsForm(props: {
  readonly credentials: readonly { readonly id: string; readonly name: string; readonly region: string | null }[];
}) {
  const org = useOrg();
  const navigate = useNavigate();
  const create = useChange("createCluster");
  const [name, setName] = useState("");
  const [credentialId, setCredentialId] = useState(props.credentials[0]?.id ?? "");
  const [region, setRegion] = useState("");
  const [machine, setMachine] = useState("t3.large");
  const [agents, setAgents] = useState(0);
  const [disk, setDisk] = useState(50);
  const credential = props.credentials.find(({ id }) => id === credentialId);
  const input = {
    org_id: org.id,
    body: {
      name: name.trim(),
      provider: "aws" as const,
      credential_id: credentialId,
      ...(region.trim() ? { region: region.trim() } : {}),
      instance_type: machine,
      agent_count: agents,
      disk_size_gb: disk,
    },
  };
  const fields = create.error ? failureView(create.error).fields : {};
  const isAtField = Object.keys(fields).some((key) => key in input.body);

  const follow = ({ id, provisioning_job_id }: CreatedCluster) =>
    navigate({
      to: provisioning_job_id ? jobAddress(org.slug, id, provisioning_job_id) : clusterAddress(org.slug, id),
    });

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (create.isPending) return;
    try {
      await follow(await create.mutateAsync(input));
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Section title="The cluster">
      <form onSubmit={(event) => void send(event)}>
        <Stack maw={620}>
          <TextInput
            label="Name"
            placeholder="production"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fields["name"]}
            maxLength={100}
            required
            autoComplete="off"
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Select
              label="Credential"
              data={props.credentials.map(({ id, name: label }) => ({ value: id, label }))}
              value={credentialId}
              onChange={(value) => setCredentialId(value ?? credentialId)}
              error={fields["credential_id"]}
              allowDeselect={false}
            />
            <TextInput
              label="Region"
              placeholder={credential?.region ?? "eu-central-1"}
              inputWrapperOrder={["label", "input", "description", "error"]}
              description={credential?.region ? "Empty takes the credential's." : undefined}
              value={region}
              onChange={(event) => setRegion(event.currentTarget.value)}
              error={fields["region"]}
              required={!credential?.region}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <Select
              label="Machines"
              inputWrapperOrder={["label", "input", "description", "error"]}
              description="One kind for all nodes."
              data={MACHINES}
              value={machine}
              onChange={(value) => setMachine(value ?? machine)}
              error={fields["instance_type"]}
              allowDeselect={false}
            />
            <NumberInput
              label="Agents"
              inputWrapperOrder={["label", "input", "description", "error"]}
              description="Beside the one control-plane node."
              min={0}
              max={20}
              clampBehavior="strict"
              value={agents}
              onChange={(value) => setAgents(Number(value) || 0)}
              error={fields["agent_count"]}
            />
            <NumberInput
              label="Disk of each node"
              inputWrapperOrder={["label", "input", "description", "error"]}
              description="From 10 to 500 GB."
              suffix=" GB"
              min={10}
              max={500}
              value={disk}
              onChange={(value) => setDisk(Number(value) || 50)}
              error={fields["disk_size_gb"]}
            />
          </SimpleGrid>
          <Alert color="gray" variant="light" py="xs">
            <Text size="sm">
              {agents === 0
                ? `One machine of type ${machine} with a disk of ${disk} GB`
                : `${agents + 1} machines of type ${machine} with ${disk} GB each`}{" "}
              will run in your account until the cluster is deleted. AWS bills you for it; the prices are not known
              here.
            </Text>
          </Alert>
          {create.error && !isAtField ? <FailurePanel error={create.error} /> : null}
          <SameByCommand
            operation="createCluster"
            input={input}
            command={`binnacle clusters register ${quoted(name.trim() || "production")} --provider aws --credential ${quoted(credential?.name ?? "")} --instance-type ${machine} --agents ${agents} --disk-size ${disk}${region.trim() ? ` --region ${quoted(region.trim())}` : ""}`}
          />
          <Group>
            <Button type="submit" loading={create.isPending} disabled={name.trim() === "" || credentialId === ""}>
              Create the cluster
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
