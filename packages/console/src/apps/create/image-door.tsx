import { Button, Group, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { IconRocket } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../../api/failure.ts";
import { useChange } from "../../api/queries.runner.ts";
import { useOrg } from "../../frame/org.tsx";
import { SameByCommand } from "../../parts/action-dialog.tsx";
import { appAddress, appSearch } from "../../parts/addresses.ts";
import { FailurePanel } from "../../parts/loaded.tsx";
import { Section } from "../../parts/page.tsx";
import { ProjectChoice } from "../../parts/project-choice.tsx";
import { usePageSearch } from "../../parts/use-search.tsx";
import { componentsOf, fieldProblems, type ImageForm, nameAfter } from "./from-image.ts";

const EMPTY: ImageForm = { name: "", image: "", port: "", host: "" };

/** From an image to a running app in one screen. */
export function ImageDoor() {
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const projectId = search["project"] ?? null;
  const [form, setForm] = useState(EMPTY);
  const change = useChange("createApp");
  const name = form.name || nameAfter(form.image);
  const problems = change.error ? fieldProblems(failureView(change.error).fields) : {};
  const isAtFields = problems !== null && Object.keys(problems).length > 0;
  const isReady = projectId !== null && name !== "" && form.image.trim() !== "";
  const input = { body: { name, project_id: projectId ?? "", components: componentsOf(form) } };

  const set = (changes: Partial<ImageForm>) => {
    setForm({ ...form, ...changes });
    // An answer about values that have changed since says nothing any more.
    if (change.error) change.reset();
  };

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isReady || change.isPending) return;
    try {
      const app = await change.mutateAsync(input);
      await navigate({ to: appAddress(org.slug, app), search: appSearch(app) as never });
    } catch {
      // The error is on screen, and the form stays for another try.
    }
  }

  return (
    <Section title="Run an image">
      <form onSubmit={(event) => void send(event)} noValidate>
        <Stack gap="md" maw={720}>
          <ProjectChoice
            to="createApp"
            value={projectId}
            onChange={(id) => choose({ project: id ?? undefined })}
            problem={problems?.project}
          />
          <TextInput
            label="Image"
            description="A reference as container runtimes take it."
            placeholder="nginx:1.29"
            value={form.image}
            onChange={(event) => set({ image: event.currentTarget.value })}
            error={problems?.image}
            withAsterisk
            autoComplete="off"
            spellCheck={false}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label="Name"
              placeholder={nameAfter(form.image) || "shop"}
              value={form.name}
              onChange={(event) => set({ name: event.currentTarget.value })}
              error={problems?.name}
              autoComplete="off"
              spellCheck={false}
            />
            <TextInput
              label="Port"
              placeholder="none"
              inputMode="numeric"
              value={form.port}
              onChange={(event) => set({ port: event.currentTarget.value.replace(/\D/g, "").slice(0, 5) })}
              error={problems?.port}
              autoComplete="off"
            />
          </SimpleGrid>
          <TextInput
            label="Public host"
            description="Left empty, it is reached from within the cluster only."
            placeholder="shop.example.com"
            value={form.host}
            onChange={(event) => set({ host: event.currentTarget.value })}
            error={problems?.host}
            autoComplete="off"
            spellCheck={false}
          />
          {change.error && !isAtFields ? <FailurePanel error={change.error} /> : null}
          <SameByCommand
            operation="createApp"
            input={input}
            command={`binnacle apps init --image ${form.image || "…"} --name ${name || "…"}${form.port ? ` --port ${form.port}` : ""} && binnacle apps deploy`}
          />
          <Group>
            <Button
              type="submit"
              leftSection={<IconRocket size={16} aria-hidden />}
              loading={change.isPending}
              disabled={!isReady}
            >
              Create app
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
