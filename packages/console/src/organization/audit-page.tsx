import { commandLine } from "@binnacle/cli/command-line";
import type { AuditEntry } from "@binnacle/client";
import { Button, Code, Drawer, Group, Select, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { CopyText } from "../components/copy-text.tsx";
import { ChoiceFilter, SearchFilter } from "../components/filters.tsx";
import { type Column, ListTable } from "../components/list-table.tsx";
import { absoluteTime, Moment } from "../components/moment.tsx";
import { EmptyState, Facts, Page } from "../components/page.tsx";
import { ShortTable } from "../components/short-table.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { Allowed, useOrg } from "../frame/org.tsx";
import type { Search } from "../search.ts";
import { actionText, auditFilter, changesOf, inputOfTime, timeOfInput } from "./audit.ts";
import { AuditExport, inputOf } from "./audit-export.tsx";

const TYPES = [
  "addon_instance",
  "app",
  "chart_repository",
  "cli_token",
  "cluster",
  "credential",
  "member",
  "org",
  "project",
  "provisioning_job",
  "registry_secret",
  "role_binding",
  "session",
  "stack_template",
  "task",
  "user",
].map((value) => ({ value, label: value.replaceAll("_", " ") }));

const actorLabel = ({ actor, via }: AuditEntry): string =>
  `${actor.email ?? "The system"}${via === "cli_token" ? ", by token" : ""}`;

const columnsOf = (open: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] => [
  { title: "When", width: "90px", render: ({ at }) => <Moment at={at} /> },
  {
    title: "Action",
    width: "minmax(0, 3fr)",
    render: (entry) => (
      <div style={{ minWidth: 0 }}>
        <UnstyledButton onClick={() => open(entry)} data-row-link display="block" fz="sm" fw={600} maw="100%">
          <Text inherit truncate>
            {actionText(entry.action)}
          </Text>
        </UnstyledButton>
        <Text size="xs" c="dimmed" truncate visibleFrom="sm" title={entry.summary ?? undefined}>
          {entry.summary}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          {actorLabel(entry)}
        </Text>
      </div>
    ),
  },
  {
    title: "Object",
    width: "minmax(120px, 1.5fr)",
    from: "tablet",
    render: ({ resource }) => resource.name ?? resource.type.replaceAll("_", " "),
  },
  { title: "Who", width: "minmax(120px, 1.3fr)", from: "tablet", render: actorLabel },
  { title: "From", width: "130px", from: "desktop", render: ({ source_address }) => source_address ?? "—" },
];

/** Who did what, and when. The filters are in the address, and what they leave can be exported. */
export function AuditPage() {
  const org = useOrg();
  const [search, choose] = usePageSearch();
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const filter = auditFilter(search);
  const isFiltered = Object.keys(filter).length > 0;
  const columns = useMemo(() => columnsOf(setOpen), []);
  function show(changes: Search): void {
    choose(changes);
    setOpen(null);
  }
  return (
    <Page
      title="Audit log"
      actions={
        <Allowed to="listAuditLog">
          <AuditExport orgId={org.id} slug={org.slug} filter={filter} />
        </Allowed>
      }
    >
      <Group gap="xs" align="flex-end">
        <SearchFilter name="action" label="Action, such as app." />
        <ActorFilter />
        <ChoiceFilter name="type" label="Any object" choices={TYPES} />
        <TimeFilter name="since" label="Since" />
        <TimeFilter name="until" label="Until" />
        {isFiltered ? (
          <Button
            variant="subtle"
            color="gray"
            onClick={() =>
              choose({
                action: undefined,
                actor: undefined,
                type: undefined,
                object: undefined,
                since: undefined,
                until: undefined,
              })
            }
          >
            Remove the filters
          </Button>
        ) : null}
      </Group>
      <ListTable
        label="Audit log"
        operation="listAuditLog"
        input={inputOf(org.id, filter)}
        columns={columns}
        empty={
          <EmptyState
            title={isFiltered ? "No entry fits" : "No entries"}
            command={commandLine("listAuditLog", { id: org.slug })}
          >
            Every change is recorded here with who made it, from where, and what changed.
          </EmptyState>
        }
      />
      <Drawer
        opened={open !== null}
        onClose={() => setOpen(null)}
        position="right"
        size="lg"
        title={open ? actionText(open.action) : ""}
      >
        {open ? <EntryView entry={open} onChoose={show} /> : null}
      </Drawer>
    </Page>
  );
}

function ActorFilter() {
  const org = useOrg();
  const [search, choose] = usePageSearch();
  const members = useAll("listMembers", { id: org.id });
  const data = (members.data ?? []).map(({ user_id, email }) => ({ value: user_id, label: email }));
  const chosen = search["actor"] ?? null;
  // Somebody who has left is not a member, and is still in the log.
  if (chosen && !data.some(({ value }) => value === chosen))
    data.push({ value: chosen, label: "Somebody who has left" });
  return (
    <Select
      aria-label="Who"
      placeholder="Anybody"
      data={data}
      value={chosen}
      onChange={(value) => choose({ actor: value ?? undefined })}
      clearable
      searchable
      w={{ base: "100%", xs: 190 }}
    />
  );
}

function TimeFilter({ name, label }: { readonly name: "since" | "until"; readonly label: string }) {
  const [search, choose] = usePageSearch();
  return (
    <TextInput
      type="datetime-local"
      aria-label={label}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={52}
      value={inputOfTime(search[name])}
      onChange={(event) => choose({ [name]: timeOfInput(event.currentTarget.value) })}
      w={{ base: "100%", xs: 230 }}
    />
  );
}

function EntryView(props: { readonly entry: AuditEntry; readonly onChoose: (changes: Search) => void }) {
  const { entry } = props;
  const { resource } = entry;
  const changes = changesOf(entry);
  return (
    <Stack>
      {entry.summary === null ? null : <Text style={{ overflowWrap: "anywhere" }}>{entry.summary}</Text>}
      <Facts
        of={[
          ["When", absoluteTime(entry.at)],
          ["Who", entry.actor.email ?? "The system"],
          ["By", { user: "A session", cli_token: "A CLI token", system: "The system itself" }[entry.via]],
          ["From", entry.source_address],
          ["Action", <Code key="action">{entry.action}</Code>],
          ["Object", `${resource.type.replaceAll("_", " ")}${resource.name ? ` ${resource.name}` : ""}`],
          [
            "Request",
            entry.request_id ? (
              <Group key="request" gap={4}>
                <Code>{entry.request_id}</Code>
                <CopyText text={entry.request_id} label="Copy the id of the request" />
              </Group>
            ) : null,
          ],
        ]}
      />
      <ShortTable
        label="Changes"
        rows={changes}
        keyOf={({ field }) => field}
        isEven
        columns={[
          { title: "Field", render: ({ field }) => field },
          { title: "Before", render: ({ before }) => <ValueText value={before} /> },
          { title: "After", render: ({ after }) => <ValueText value={after} /> },
        ]}
        empty="The entry names no changed fields."
      />
      <Group>
        {resource.id ? (
          <Button
            variant="default"
            size="xs"
            onClick={() => props.onChoose({ object: resource.id ?? undefined, type: resource.type })}
          >
            All about this object
          </Button>
        ) : null}
        {entry.actor.id ? (
          <Button variant="default" size="xs" onClick={() => props.onChoose({ actor: entry.actor.id ?? undefined })}>
            All by this person
          </Button>
        ) : null}
      </Group>
    </Stack>
  );
}

function ValueText({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null)
    return (
      <Text size="xs" c="dimmed">
        —
      </Text>
    );
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <Code style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", display: "inline-block" }}>
      {text === "" ? "(empty)" : text}
    </Code>
  );
}
