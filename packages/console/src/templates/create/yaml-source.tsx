import type { Answer, ValidationItem } from "@binnacle/client";
import { Button, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAll } from "../../api/all.runner.ts";
import { useChange } from "../../api/queries.runner.ts";
import { templateAddress } from "../../components/addresses.ts";
import { binnacleOf } from "../../components/commands.ts";
import { FailurePanel, lazily } from "../../components/loaded.tsx";
import { Notice } from "../../components/notice.tsx";
import { Section } from "../../components/page.tsx";
import { useOrg } from "../../frame/org.tsx";
import { ProjectChoice } from "../../projects/project-choice.tsx";

const YamlEditor = lazily(async () => (await import("../../apps/configuration/yaml-editor.tsx")).YamlEditor);

const FIRST = `name: my-template
version: 1.0.0
scope: project
description: A web app.
tags: [web]

parameters:
  - { name: image, type: string, description: The image to run., default: "nginx:1.29" }
  - { name: replicas, type: integer, default: 2, min: 1, max: 10 }

components:
  - name: web
    workload_spec:
      kind: deployment
      image: \${image}
      replicas: \${replicas}
      ports:
        - { name: http, port: 80 }
`;

type Reading = Extract<Answer<"createStackTemplateFromYaml">, { readonly valid: boolean }>;

/** A template from YAML. The API reads it, and says of everything that is wrong where it is. */
export function YamlSource() {
  const org = useOrg();
  const navigate = useNavigate();
  const change = useChange("createStackTemplateFromYaml");
  const projects = useAll("listProjects", { org_id: org.id });
  const [text, setText] = useState(FIRST);
  const [projectId, setProjectId] = useState<string | null>(null);
  const [namespace, setNamespace] = useState("");
  const [reading, setReading] = useState<Reading | null>(null);

  async function send(create: boolean): Promise<void> {
    setReading(null);
    try {
      const read = await change.mutateAsync({ body: { yaml_content: text } });
      if (!("valid" in read)) return;
      setReading(read);
      if (!create || !read.valid || !read.template) return;
      const project = projects.data?.find(({ id }) => id === projectId);
      const isOfProject = (read.template.scope ?? "project") === "project";
      const made = await change.mutateAsync({
        body: {
          yaml_content: text,
          create: true,
          ...(isOfProject && project
            ? { project_id: project.id, namespace: project.namespace }
            : { org_id: org.id, ...(namespace ? { namespace } : {}) }),
        },
      });
      if ("id" in made) await navigate({ to: templateAddress(org.slug, made.namespace, made.name) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Section title="From YAML">
      <Stack>
        <YamlEditor
          label="The template as YAML"
          value={text}
          problems={[]}
          onChange={(next) => {
            setText(next);
            setReading(null);
          }}
        />
        {reading ? <Verdict reading={reading} /> : null}
        {change.error ? <FailurePanel error={change.error} /> : null}
        <Group grow align="flex-start">
          <ProjectChoice
            to="deployStackTemplate"
            description="For the scope project: whoever has a role on it sees the template."
            value={projectId}
            onChange={setProjectId}
          />
          <TextInput
            label="Namespace"
            description="For other scopes, unless the text names one."
            value={namespace}
            onChange={(event) => setNamespace(event.currentTarget.value)}
            autoComplete="off"
          />
        </Group>
        <Group justify="flex-end">
          <Text size="xs" c="dimmed" style={{ flex: 1 }}>
            The same by command: <code>{binnacleOf("createStackTemplateFromYaml", { body: { create: true } })}</code>
          </Text>
          <Button variant="default" onClick={() => void send(false)} loading={change.isPending}>
            Check
          </Button>
          <Button onClick={() => void send(true)} loading={change.isPending}>
            Create template
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}

function Verdict({ reading }: { readonly reading: Reading }) {
  return reading.valid ? (
    <Notice tone="good" title="The template is valid" />
  ) : (
    <Notice tone="bad" title="The template cannot be created like this">
      <Problems items={reading.errors} />
    </Notice>
  );
}

/** What is wrong, each with the path where it is. */
export function Problems({ items }: { readonly items: readonly ValidationItem[] }) {
  return (
    <List size="sm" spacing={2}>
      {items.map(({ loc, msg }, index) => (
        <List.Item key={index} style={{ overflowWrap: "anywhere" }}>
          <strong>{loc.slice(1).join(".") || "text"}</strong>: {msg}
        </List.Item>
      ))}
    </List>
  );
}
