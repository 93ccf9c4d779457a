import { commandLine } from "@binnacle/cli/command-line";
import type { CloudProvider, Credential } from "@binnacle/client";
import { Alert, Autocomplete, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useRead } from "../api/queries.runner.ts";
import { clusterAddress, jobAddress } from "../components/addresses.ts";
import { type Fields, OperationForm } from "../components/form.tsx";
import { ButtonLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState, Section } from "../components/page.tsx";
import { useOrg } from "../frame/org.tsx";

/** Has a cluster created in an account at a cloud, by a job that can be followed. */
export function RegisterCloud({ cloud }: { readonly cloud: CloudProvider }) {
  const org = useOrg();
  const credentials = useRead("listCredentials", { id: org.id, items_per_page: 100 });
  const { provider } = cloud;
  return (
    <Loaded of={credentials}>
      {({ data }) => {
        const usable = data.filter((each) => each.provider === provider);
        return usable.length === 0 ? (
          <EmptyState
            title={`No credential for ${cloud.name}`}
            action={
              <ButtonLink to={`/o/${org.slug}/credentials`} variant="light">
                Go to credentials
              </ButtonLink>
            }
            command={commandLine("createCredential", { id: org.slug, body: { name: provider, provider } })}
          >
            A credential has a key of your account. It is sealed at rest and never shown again.
          </EmptyState>
        ) : (
          <CloudForm cloud={cloud} credentials={usable} />
        );
      }}
    </Loaded>
  );
}

interface Props {
  readonly cloud: CloudProvider;
  readonly credentials: readonly Credential[];
}

const EMPTY = { name: "", credential_id: "", region: "", instance_type: "", agent_count: 0, disk_size_gb: 50 };

function CloudForm({ cloud, credentials }: Props) {
  const org = useOrg();
  const navigate = useNavigate();
  return (
    <Section title="The cluster">
      <OperationForm
        operation="createCluster"
        values={{ ...EMPTY, credential_id: credentials[0]?.id ?? "", instance_type: cloud.default_instance_type }}
        input={({ name, region, ...typed }) => ({
          org_id: org.id,
          body: {
            ...typed,
            name: name.trim(),
            provider: cloud.provider,
            ...(region.trim() ? { region: region.trim() } : {}),
          },
        })}
        action="Create the cluster"
        isReady={({ name, credential_id }) => name.trim() !== "" && credential_id !== ""}
        named={credentials}
        onDone={({ id, provisioning_job_id: job }) =>
          void navigate({ to: job ? jobAddress(org.slug, id, job) : clusterAddress(org.slug, id) })
        }
      >
        {(fields) => <ClusterFields {...fields} cloud={cloud} credentials={credentials} />}
      </OperationForm>
    </Section>
  );
}

/** Descriptions under the inputs keep those of one line at the same height. */
const HINT_BELOW = {
  inputWrapperOrder: ["label", "input", "description", "error"] as ("label" | "input" | "description" | "error")[],
};

function ClusterFields({ cloud, credentials, field, values }: Props & Fields<typeof EMPTY>) {
  const { instance_type: machine, agent_count: agents, disk_size_gb: disk, credential_id } = values;
  const region = credentials.find(({ id }) => id === credential_id)?.region;
  const regionField = cloud.fields.find(({ name }) => name === "region");
  return (
    <Stack maw={620}>
      <TextInput label="Name" placeholder="production" maxLength={100} required {...field("name")} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Credential"
          data={credentials.map(({ id, name }) => ({ value: id, label: name }))}
          allowDeselect={false}
          {...field("credential_id")}
        />
        {regionField ? (
          <TextInput
            {...HINT_BELOW}
            label={regionField.label}
            placeholder={region ?? regionField.example}
            description={region ? "Empty takes the credential's." : undefined}
            required={!region}
            {...field("region")}
          />
        ) : null}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Autocomplete
          {...HINT_BELOW}
          label="Machines"
          description="One kind for all nodes. Others can be typed."
          data={[...cloud.instance_types]}
          // What is chosen must not hide the others.
          filter={({ options }) => options}
          {...field("instance_type")}
        />
        <NumberInput
          {...HINT_BELOW}
          label="Agents"
          description="Beside the one control-plane node."
          min={0}
          max={20}
          clampBehavior="strict"
          {...field("agent_count")}
        />
        <NumberInput
          {...HINT_BELOW}
          label="Disk of each node"
          description="From 10 to 500 GB."
          suffix=" GB"
          min={10}
          max={500}
          {...field("disk_size_gb")}
        />
      </SimpleGrid>
      <Alert color="gray" variant="light" py="xs">
        <Text size="sm">
          {agents === 0
            ? `One machine of type ${machine} with a disk of ${disk} GB`
            : `${Number(agents) + 1} machines of type ${machine} with ${disk} GB each`}{" "}
          will run in your account until the cluster is deleted. {cloud.name} bills you for it; the prices are not known
          here.
        </Text>
      </Alert>
    </Stack>
  );
}
