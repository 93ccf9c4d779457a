import { Box, Card, Group, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { IconBox, IconFileCode, type IconProps, IconTemplate } from "@tabler/icons-react";
import { type ComponentType, lazy, Suspense } from "react";
import { LoadingLines } from "../../parts/loaded.tsx";
import { Page } from "../../parts/page.tsx";
import { usePageSearch } from "../../parts/use-search.tsx";
import { ImageDoor } from "./image-door.tsx";

const TemplateGallery = lazy(async () => ({
  default: (await import("../../templates/templates-page.tsx")).TemplateGallery,
}));
const YamlDoor = lazy(async () => ({ default: (await import("./yaml-door.tsx")).YamlDoor }));

interface Door {
  readonly value: string;
  readonly title: string;
  readonly text: string;
  readonly Icon: ComponentType<IconProps>;
}

const DOORS: readonly Door[] = [
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
  const door = DOORS.find(({ value }) => value === search["from"])?.value ?? "image";
  return (
    <Page title="Create app" detail="An app is a set of components that run together in a project.">
      <SimpleGrid cols={{ base: 1, sm: 3 }} role="radiogroup" aria-label="Begin with">
        {DOORS.map((each) => (
          <DoorCard
            key={each.value}
            door={each}
            isChosen={each.value === door}
            onChoose={() => choose({ from: each.value })}
          />
        ))}
      </SimpleGrid>
      <Suspense fallback={<LoadingLines lines={6} />}>
        {door === "image" ? <ImageDoor /> : door === "yaml" ? <YamlDoor /> : <TemplateGallery />}
      </Suspense>
    </Page>
  );
}

function DoorCard(props: { readonly door: Door; readonly isChosen: boolean; readonly onChoose: () => void }) {
  const { Icon, title, text } = props.door;
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
