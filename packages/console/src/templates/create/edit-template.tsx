import { type Answer, Invalid } from "@binnacle/client";
import { Button, Group, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { parse, stringify } from "yaml";
import { useChange } from "../../api/queries.runner.ts";
import { client } from "../../api/session.adapter.ts";
import { templateAddress } from "../../components/addresses.ts";
import { FailurePanel, Loaded, lazily } from "../../components/loaded.tsx";
import { Notice } from "../../components/notice.tsx";
import { Section } from "../../components/page.tsx";
import { useOrg } from "../../frame/org.tsx";
import { Problems } from "./yaml-source.tsx";

const YamlEditor = lazily(async () => (await import("../../apps/configuration/yaml-editor.tsx")).YamlEditor);

interface Address {
  readonly namespace: string;
  readonly name: string;
  readonly orgId: string;
}

/** Changes a stored template as YAML. Somebody else's change in the meantime is not overwritten. */
export function EditTemplate({ namespace, name, orgId }: Address) {
  const input = { namespace, name, org_id: orgId };
  const template = useQuery({
    // The form must not follow later changes, so it has a key of its own.
    queryKey: ["editedTemplate", input],
    queryFn: ({ signal }) => client.send("getStackTemplate", input, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  return <Loaded of={template}>{({ data, etag }) => <Editor template={data} etag={etag} input={input} />}</Loaded>;
}

function Editor(props: {
  readonly template: Answer<"getStackTemplate">;
  readonly etag: string | null;
  readonly input: { readonly namespace: string; readonly name: string; readonly org_id: string };
}) {
  const org = useOrg();
  const navigate = useNavigate();
  const change = useChange("updateStackTemplate");
  const { description, icon, tags, parameters, components } = props.template;
  const [initial] = useState(() => stringify({ description, icon, tags, parameters, components }));
  const [text, setText] = useState(initial);
  const [unread, setUnread] = useState<string | null>(null);

  async function save(): Promise<void> {
    setUnread(null);
    let body: object;
    try {
      body = parse(text) as object;
    } catch (error) {
      setUnread(error instanceof Error ? error.message : String(error));
      return;
    }
    try {
      await change.mutateAsync({
        ...props.input,
        body,
        ...(props.etag ? { $options: { ifMatch: props.etag } } : {}),
      });
      notifications.show({ message: `${props.template.name} is saved.`, color: "green" });
      await navigate({ to: templateAddress(org.slug, props.template.namespace, props.template.name) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Section title={`${props.template.namespace}/${props.template.name}`}>
      <Stack>
        <YamlEditor label="The template as YAML" value={text} problems={[]} onChange={setText} />
        {unread ? (
          <Notice tone="bad" title="The text is not YAML">
            {unread}
          </Notice>
        ) : null}
        {change.error instanceof Invalid ? (
          <Notice tone="bad" title="The template cannot be changed like this">
            <Problems items={change.error.items} />
          </Notice>
        ) : change.error ? (
          <FailurePanel error={change.error} />
        ) : null}
        <Group justify="flex-end">
          <Button disabled={text === initial} loading={change.isPending} onClick={() => void save()}>
            Save template
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}
