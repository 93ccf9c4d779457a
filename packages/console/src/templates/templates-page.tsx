import { commandLine } from "@binnacle/cli/command-line";
import { Avatar, Badge, Box, Button, Card, Chip, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useAll } from "../api/all.runner.ts";
import { templateAddress } from "../components/addresses.ts";
import { ChoiceFilter, SearchFilter } from "../components/filters.tsx";
import { ButtonLink, TextLink } from "../components/links.tsx";
import { FailurePanel, Loaded, PendingCards } from "../components/loaded.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { filtered, type GalleryItem, galleryOf, lettersOf, tagsOf } from "./gallery.ts";

const SCOPES = [
  { value: "catalog", label: "Catalog" },
  { value: "project", label: "Project" },
  { value: "cluster", label: "Cluster" },
  { value: "organization", label: "Organization" },
  { value: "global", label: "Global" },
];
const MOST_TAGS = 12;

/** All templates that can be deployed here: those of the organization, and those that ship. */
export function TemplatesPage() {
  const org = useOrg();
  return (
    <Page
      title="Templates"
      detail="Apps with blanks to fill in. Choose one, answer its questions, and it runs."
      actions={
        <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to={`/o/${org.slug}/templates/new`}>
          Create template
        </ButtonLink>
      }
    >
      <TemplateGallery />
    </Page>
  );
}

/** The templates as cards, each a link to the page that deploys it. */
export function TemplateGallery() {
  const org = useOrg();
  const stored = useAll("listStackTemplates", {});
  const catalog = useAll("browseTemplateRegistry", {});
  // A catalog that cannot be read must not hide the organization's own templates.
  const items =
    stored.data && (catalog.data || catalog.error) ? galleryOf(org.id, stored.data, catalog.data ?? []) : undefined;
  const { refetch, error } = stored;
  return (
    <>
      {catalog.error ? <FailurePanel error={catalog.error} onRetry={() => void catalog.refetch()} /> : null}
      <Loaded
        of={{ data: items, error, isPending: items === undefined, refetch }}
        skeleton={<PendingCards height={168} />}
      >
        {(all) => <Gallery items={all} />}
      </Loaded>
    </>
  );
}

function Gallery({ items }: { readonly items: readonly GalleryItem[] }) {
  const [search, choose] = usePageSearch();
  const tag = search["tag"];
  const shown = filtered(items, { text: search["q"], tag, scope: search["scope"] });
  const tags = tagsOf(items).slice(0, MOST_TAGS);
  return (
    <Stack gap="md">
      <Group gap="xs">
        <SearchFilter label="Filter by name or description" />
        <ChoiceFilter name="scope" label="From anywhere" choices={SCOPES} />
      </Group>
      <Chip.Group value={tag ?? ""} onChange={(value) => choose({ tag: value === tag ? undefined : String(value) })}>
        <Group gap={6} role="group" aria-label="Tags">
          {[...new Set([...tags, ...(tag ? [tag] : [])])].map((each) => (
            <Chip
              key={each}
              value={each}
              size="xs"
              onClick={() => (each === tag ? choose({ tag: undefined }) : undefined)}
            >
              {each}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {shown.length === 0 ? (
        <Card>
          <EmptyState
            title="No template fits"
            action={
              <Button variant="light" onClick={() => choose({ q: undefined, tag: undefined, scope: undefined })}>
                Remove the filters
              </Button>
            }
            command={commandLine("listStackTemplates", {})}
          >
            A template is made from YAML, from an app that runs, or from a Helm chart.
          </EmptyState>
        </Card>
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3, xl: 4 }} component="ul" p={0} m={0}>
          {shown.map((item) => (
            <TemplateCard key={`${item.org_id}/${item.namespace}/${item.name}`} item={item} />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}

function TemplateCard({ item }: { readonly item: GalleryItem }) {
  const org = useOrg();
  const { namespace, name, org_id } = item;
  // A global template of another organization is found by that organization alone.
  const search = org_id !== null && org_id !== org.id ? { from: org_id } : {};
  return (
    <Card component="li" padding="md" style={{ listStyle: "none", position: "relative" }}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar radius="md" color="navy" aria-hidden>
          {lettersOf(name)}
        </Avatar>
        <Box miw={0} style={{ flex: 1 }}>
          <TextLink
            size="md"
            fw={600}
            c="inherit"
            truncate
            display="block"
            underline="never"
            to={templateAddress(org.slug, namespace, name)}
            search={search}
          >
            {name}
            {/* The whole card is the link's target. */}
            <span style={{ position: "absolute", inset: 0 }} />
          </TextLink>
          <Text size="xs" c="dimmed" truncate>
            {org_id === null ? "Catalog" : `${namespace}, ${item.scope}`} · {item.version}
          </Text>
        </Box>
      </Group>
      <Text size="sm" mt="sm" lineClamp={3} style={{ flex: 1, overflowWrap: "anywhere" }}>
        {item.description ?? "No description."}
      </Text>
      <Group gap={4} mt="sm">
        {item.tags.slice(0, 4).map((each) => (
          <Badge key={each} variant="default" size="sm" radius="sm" tt="none" fw={400}>
            {each}
          </Badge>
        ))}
      </Group>
    </Card>
  );
}
