import type { BundleSummary } from "@binnacle/client";
import { Badge, Card, Group, Select, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { ButtonLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState, Facts, Page, Section } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { BundleDiffTable } from "./bundle-diff.tsx";
import { settingsOf } from "./bundle-labels.ts";

/** The catalog of platform bundles: what each pins, and what differs between two. */
export function BundlesPage() {
  const bundles = useRead("listBundles", {});
  const [search] = usePageSearch();
  return (
    <Page
      title="Bundles"
      detail="A bundle is a tested set of platform components with pinned versions. The catalog ships with Binnacle."
    >
      <Loaded of={bundles}>
        {({ data }) => {
          if (data.length === 0)
            return <EmptyState title="The catalog is empty">No bundle ships with this version.</EmptyState>;
          const newestFirst = data.toReversed();
          const shown = data.find(({ version }) => version === search["version"]);
          return (
            <Stack>
              <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
                {newestFirst.map((bundle, index) => (
                  <Summary key={bundle.version} bundle={bundle} isNewest={index === 0} isShown={bundle === shown} />
                ))}
              </SimpleGrid>
              {shown ? <Manifest version={shown.version} /> : null}
              {data.length > 1 ? <Compare versions={data.map(({ version }) => version)} /> : null}
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Summary(props: { readonly bundle: BundleSummary; readonly isNewest: boolean; readonly isShown: boolean }) {
  const org = useOrg();
  const [search] = usePageSearch();
  const { version, ha_tiers, profiles } = props.bundle;
  return (
    <Card padding="md">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h3">
            {version}
          </Title>
          {props.isNewest ? (
            <Badge variant="light" radius="sm" tt="none">
              newest
            </Badge>
          ) : null}
        </Group>
        <ButtonLink
          to={`/o/${org.slug}/bundles`}
          search={{ ...search, version: props.isShown ? undefined : version }}
          size="compact-sm"
          variant="default"
        >
          {props.isShown ? "Hide the pins" : "Show the pins"}
        </ButtonLink>
      </Group>
      <Facts
        of={[
          ["Availability", ha_tiers.join(", ")],
          ["Profiles", profiles.join(", ") || "none"],
        ]}
      />
    </Card>
  );
}

function Manifest({ version }: { readonly version: string }) {
  const manifest = useRead("getBundle", { version });
  return (
    <Section title={`Pins of ${version}`}>
      <Loaded of={manifest}>
        {({ core, profiles, os, ...rest }) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
            <Stack>
              <Pins title="Core" of={core} />
              {Object.entries(profiles).map(([name, { components }]) => (
                <Pins key={name} title={`Profile ${name}`} of={components} />
              ))}
            </Stack>
            <Stack>
              <Facts of={[["Operating systems", os.supported.join(", ")]]} />
              <Pins title="Settings" of={Object.fromEntries(settingsOf(rest))} />
            </Stack>
          </SimpleGrid>
        )}
      </Loaded>
    </Section>
  );
}

function Pins({ title, of }: { readonly title: string; readonly of: Readonly<Record<string, string>> }) {
  return (
    <div>
      <Title order={3} size="h5" mb={4}>
        {title}
      </Title>
      <Table verticalSpacing={4} layout="fixed">
        <Table.Tbody>
          {Object.entries(of).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }} c="dimmed">
                {value}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Compare({ versions }: { readonly versions: readonly string[] }) {
  const [search, choose] = usePageSearch();
  const known = (version: string | undefined) => versions.find((each) => each === version);
  const from = known(search["from"]) ?? versions.at(-2) ?? "";
  const to = known(search["to"]) ?? versions.at(-1) ?? "";
  const select = (name: "from" | "to", value: string, label: string) => (
    <Select
      aria-label={label}
      size="xs"
      w={110}
      data={[...versions]}
      value={value}
      onChange={(version) => choose({ [name]: version ?? undefined })}
      allowDeselect={false}
    />
  );
  return (
    <Section title="Compare">
      <Stack gap="sm">
        <Group gap="sm">
          <Text size="sm">From</Text>
          {select("from", from, "From")}
          <Text size="sm">to</Text>
          {select("to", to, "To")}
        </Group>
        <BundleDiffTable from={from} to={to} />
      </Stack>
    </Section>
  );
}
