import { Button, Group, Select, Stack, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAll } from "../../api/all.runner.ts";
import { failureView } from "../../api/failure.ts";
import { useChange } from "../../api/queries.runner.ts";
import { useOrg } from "../../frame/org.tsx";
import { SameByCommand } from "../../parts/action-dialog.tsx";
import { templateAddress } from "../../parts/addresses.ts";
import { FailurePanel } from "../../parts/loaded.tsx";
import { Section } from "../../parts/page.tsx";
import { usePageSearch } from "../../parts/use-search.tsx";

/** A template of an app that runs. Its secrets become parameters, without their values. */
export function AppDoor() {
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const apps = useAll("listApps", {});
  const own = (apps.data ?? []).filter(({ org_id }) => org_id === org.id);
  const app = own.find(({ id }) => id === search["app"]);
  const change = useChange("createStackTemplateFromApp");
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [tags, setTags] = useState<string[]>([]);
  const [keepsRefs, setKeepsRefs] = useState(true);
  const problems = change.error ? failureView(change.error).fields : {};
  const input = {
    namespace: app?.namespace ?? "…",
    name: app?.name ?? "…",
    project_id: app?.project_id ?? "…",
    body: {
      name,
      ...(description ? { description } : {}),
      ...(tags.length > 0 ? { tags } : {}),
      ...(keepsRefs ? {} : { preserve_export_refs: false }),
    },
  };

  async function create(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!app || name === "" || change.isPending) return;
    try {
      const made = await change.mutateAsync(input);
      await navigate({ to: templateAddress(org.slug, made.namespace, made.name) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Section title="From an app">
      <form onSubmit={(event) => void create(event)}>
        <Stack gap="sm">
          <Select
            label="App"
            data={own.map(({ id, namespace, name: label }) => ({ value: id, label: `${namespace}/${label}` }))}
            value={app?.id ?? null}
            onChange={(id) => choose({ app: id ?? undefined })}
            placeholder={apps.isPending ? "Loading" : "Choose an app"}
            nothingFoundMessage="No app has this name."
            searchable
            withAsterisk
          />
          <TextInput
            label="Name of the template"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problems["name"]}
            autoComplete="off"
            withAsterisk
          />
          <Textarea
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problems["description"]}
            autosize
            minRows={2}
          />
          <TagsInput label="Tags" value={tags} onChange={setTags} error={problems["tags"]} />
          <Switch
            label="Keep what components take from each other"
            description="Off, each of these becomes a question of the template."
            checked={keepsRefs}
            onChange={(event) => setKeepsRefs(event.currentTarget.checked)}
          />
          {change.error ? <FailurePanel error={change.error} /> : null}
          <SameByCommand
            operation="createStackTemplateFromApp"
            input={input}
            command={`binnacle templates from-app ${app?.name ?? "…"} ${name || "…"}`}
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={!app || name === ""} loading={change.isPending}>
              Create template
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
