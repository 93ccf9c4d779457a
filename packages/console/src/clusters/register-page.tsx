import { Card, SimpleGrid, Text, ThemeIcon, Title, UnstyledButton } from "@mantine/core";
import { IconCloudPlus, IconServer2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useMay } from "../frame/org.tsx";
import { RegisterCloud } from "./register-cloud.tsx";
import { RegisterOwn } from "./register-own.tsx";

/** The ways to a cluster: bring one along, or have one created at one of the clouds. */
export function RegisterPage() {
  const may = useMay();
  const [search, choose] = usePageSearch();
  const clouds = useRead("listCloudProviders", {});
  const way = search["way"] ?? (search["cluster"] ? "own" : null);
  if (!may("createCluster")) {
    return (
      <Page title="Add a cluster">
        <EmptyState title="Only administrators of the organization add clusters">Ask one of them to do it.</EmptyState>
      </Page>
    );
  }
  return (
    <Page title="Add a cluster">
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw={900}>
        <Way
          icon={<IconServer2 size={22} aria-hidden />}
          title="I have a cluster"
          isChosen={way === "own"}
          onChoose={() => choose({ way: "own", cluster: undefined })}
        >
          Any Kubernetes cluster that can reach this server. One command installs the operator.
        </Way>
        {clouds.data?.data.map(({ provider, name }) => (
          <Way
            key={provider}
            icon={<IconCloudPlus size={22} aria-hidden />}
            title={`Create on ${name}`}
            isChosen={way === provider}
            onChoose={() => choose({ way: provider, cluster: undefined })}
          >
            Machines, network and Kubernetes are created in your own account, with a credential of the organization.
          </Way>
        ))}
      </SimpleGrid>
      {way === "own" ? (
        <RegisterOwn />
      ) : (
        <Loaded of={clouds}>
          {({ data }) =>
            data.map((cloud) => (cloud.provider === way ? <RegisterCloud key={way} cloud={cloud} /> : null))
          }
        </Loaded>
      )}
    </Page>
  );
}

function Way(props: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <UnstyledButton onClick={props.onChoose} aria-pressed={props.isChosen} style={{ borderRadius: 8 }}>
      <Card
        padding="md"
        h="100%"
        style={
          props.isChosen
            ? {
                borderColor: "var(--mantine-primary-color-filled)",
                boxShadow: "0 0 0 1px var(--mantine-primary-color-filled)",
              }
            : {}
        }
      >
        <ThemeIcon variant="light" size="lg" mb="xs">
          {props.icon}
        </ThemeIcon>
        <Title order={2} size="h4" mb={4}>
          {props.title}
        </Title>
        <Text size="sm" c="dimmed">
          {props.children}
        </Text>
      </Card>
    </UnstyledButton>
  );
}
