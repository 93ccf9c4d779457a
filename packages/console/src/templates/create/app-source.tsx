import { Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useAll } from "../../api/all.runner.ts";
import { templateAddress } from "../../components/addresses.ts";
import { OperationForm } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { useOrg } from "../../frame/org.tsx";

/** A template of an app that runs. Its secrets become parameters, without their values. */
export function AppSource() {
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const apps = useAll("listApps", {});
  const own = (apps.data ?? []).filter(({ org_id }) => org_id === org.id);
  const app = own.find(({ id }) => id === search["app"]);
  return (
    <Section title="From an app">
      <OperationForm
        operation="createStackTemplateFromApp"
        values={{ name: "", description: "", tags: [] as string[], preserve_export_refs: true }}
        input={({ name, description, tags, preserve_export_refs }) => ({
          namespace: app?.namespace ?? "…",
          name: app?.name ?? "…",
          project_id: app?.project_id ?? "…",
          body: {
            name,
            ...(description ? { description } : {}),
            ...(tags.length > 0 ? { tags } : {}),
            ...(preserve_export_refs ? {} : { preserve_export_refs }),
          },
        })}
        action="Create template"
        isReady={({ name }) => app !== undefined && name !== ""}
        onDone={(made) => void navigate({ to: templateAddress(org.slug, made.namespace, made.name) })}
      >
        {({ field, check }) => (
          <>
            <Select
              label="App"
              data={own.map(({ id, namespace, name }) => ({ value: id, label: `${namespace}/${name}` }))}
              value={app?.id ?? null}
              onChange={(id) => choose({ app: id ?? undefined })}
              placeholder={apps.isPending ? "Loading" : "Choose an app"}
              nothingFoundMessage="No app has this name."
              searchable
              withAsterisk
            />
            <TextInput label="Name of the template" withAsterisk {...field("name")} />
            <Textarea label="Description" autosize minRows={2} {...field("description")} />
            <TagsInput label="Tags" {...field("tags")} />
            <Switch
              label="Keep what components take from each other"
              description="Off, each of these becomes a question of the template."
              {...check("preserve_export_refs")}
            />
          </>
        )}
      </OperationForm>
    </Section>
  );
}
