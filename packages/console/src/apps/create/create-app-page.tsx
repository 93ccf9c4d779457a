import { Box, Card, Group, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { IconBox, IconFileCode, type IconProps, IconTemplate } from "@tabler/icons-react";
import type { ComponentType } from "react";
import { lazily } from "../../components/loaded.tsx";
import { Page } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { ImageSource } from "./image-source.tsx";

const TemplateGallery = lazily(async () => (await import("../../templates/templates-page.tsx")).TemplateGallery);
const YamlSource = lazily(async () => (await import("./yaml-source.tsx")).YamlSource);

interface Source {
  readonly value: string;
  readonly title: string;
  readonly text: string;
  readonly Icon: ComponentType<IconProps>;
}

const SOURCES: readonly Source[] = [
  { value: "image", title: "From an image", text: "A name, an image and a port: it runs.", Icon: IconBox },
  {
    value: "template",
    title: "From a template",
    text: "Databases, tools and stacks, by a short form.",
    Icon: IconTemplate,
  },
  { value: "yaml", title: "From YAML", text: "A binnacle.yaml, with a form beside it.", Icon: IconFileCode },
];

/** Three ways to a running app. Which one is open is in the address. */
export function CreateAppPage() {
  const [search, choose] = usePageSearch();
  const source = SOURCES.find(({ value }) => value === search["from"])?.value ?? "image";
  return (
    <Page title="Create app" detail="An app is a set of components that run together in a project.">
      <SimpleGrid cols={{ base: 1, sm: 3 }} role="radiogroup" aria-label="Begin with">
        {SOURCES.map((each) => (
          <SourceCard
            key={each.value}
            source={each}
            isChosen={each.value === source}
            onChoose={() => choose({ from: each.value })}
          />
        ))}
      </SimpleGrid>
      {source === "image" ? <ImageSource /> : source === "yaml" ? <YamlSource /> : <TemplateGallery />}
    </Page>
  );
}

function SourceCard(props: { readonly source: Source; readonly isChosen: boolean; readonly onChoose: () => void }) {
  const { Icon, title, text } = props.source;
  return (
    <UnstyledButton role="radio" aria-checked={props.isChosen} onClick={props.onChoose}>
      <Card
        padding="md"
        h="100%"
        style={props.isChosen ? { borderColor: "var(--mantine-primary-color-filled)", borderWidth: 2 } : { margin: 1 }}
      >
        <Group gap="sm" wrap="nowrap">
          <Icon size={24} aria-hidden style={{ flexShrink: 0 }} />
          <Box miw={0}>
            <Text fw={600} size="sm">
              {title}
            </Text>
            <Text size="xs" c="dimmed">
              {text}
            </Text>
          </Box>
        </Group>
      </Card>
    </UnstyledButton>
  );
}
