import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconRocket } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAll } from "../../api/all.runner.ts";
import { useChange } from "../../api/queries.runner.ts";
import { appAddress, appSearch } from "../../components/addresses.ts";
import { FailurePanel } from "../../components/loaded.tsx";
import { SameByCommand } from "../../components/same-by-command.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { useOrg } from "../../frame/org.tsx";
import { ProjectChoice } from "../../projects/project-choice.tsx";
import { type AppForm, type FormProblem, problemsOf } from "../configuration/app-form.ts";
import { AppEditor, useEditing } from "../configuration/editor.tsx";

const FIRST: AppForm = {
  name: "shop",
  description: null,
  components: [
    { name: "web", workload_spec: { image: "nginx:1.29", replicas: 2, ports: [{ name: "http", port: 80 }] } },
  ],
};

/** An app from a `binnacle.yaml`, with the form beside it. A project that the file names is taken unless another one is chosen. */
export function YamlSource() {
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const projects = useAll("listProjects", {});
  const editing = useEditing(FIRST);
  const { form } = editing;
  const change = useChange("createApp");
  const [problems, setProblems] = useState<readonly FormProblem[]>([]);
  const named = (projects.data ?? []).filter(({ name, org_id }) => name === form.project && org_id === org.id);
  const projectId = search["project"] ?? (named.length === 1 ? named[0]?.id : undefined) ?? null;
  const input = {
    body: {
      name: form.name,
      project_id: projectId ?? "",
      ...(form.description === null ? {} : { description: form.description }),
      components: form.components,
    },
  };

  async function send(): Promise<void> {
    setProblems([]);
    try {
      const app = await change.mutateAsync(input);
      await navigate({ to: appAddress(org.slug, app), search: appSearch(app) as never });
    } catch (error) {
      setProblems(problemsOf(error, null));
    }
  }

  return (
    <Stack gap="md">
      <AppEditor editing={editing} problems={problems} existing={[]}>
        <ProjectChoice
          to="createApp"
          value={projectId}
          onChange={(id) => choose({ project: id ?? undefined })}
          problem={problems.find(({ path }) => path[0] === "project_id")?.message}
        />
        <TextInput
          label="Name of the app"
          value={form.name}
          onChange={(event) => editing.setForm({ ...form, name: event.currentTarget.value })}
          error={problems.find(({ path }) => path[0] === "name")?.message}
          autoComplete="off"
          withAsterisk
        />
      </AppEditor>
      {change.error && problems.length === 0 ? <FailurePanel error={change.error} /> : null}
      <SameByCommand operation="createApp" input={input} />
      <Group>
        <Button
          leftSection={<IconRocket size={16} aria-hidden />}
          onClick={() => void send()}
          loading={change.isPending}
          disabled={projectId === null || editing.problems.length > 0}
        >
          Create app
        </Button>
        <Text size="sm" c="dimmed">
          The API checks every field when it is sent, and nothing is created while one is wrong.
        </Text>
      </Group>
    </Stack>
  );
}
