import type { TemplateParameter } from "@binnacle/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { IconRocket } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { appAddress, appSearch } from "../parts/addresses.ts";
import { FailurePanel } from "../parts/loaded.tsx";
import { ProjectChoice } from "../parts/project-choice.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { ParameterForm } from "./parameter-form.tsx";
import { type Filled, fill, parameterProblems, shownValues, typedDefaults } from "./parameters.ts";

interface Props {
  readonly template: {
    readonly namespace: string;
    readonly name: string;
    readonly parameters: readonly TemplateParameter[];
  };
  /** Names the organization of a stored template, because another one may have a template of the same address. */
  readonly orgId?: string | undefined;
}

/** Deploys a template into a project, and goes to the page of the new app. */
export function DeployForm({ template, orgId }: Props) {
  const { namespace, name, parameters } = template;
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const projectId = search["project"] ?? null;
  const [appName, setAppName] = useState("");
  const [typed, setTyped] = useState(() => typedDefaults(parameters));
  const [isTried, setTried] = useState(false);
  const change = useChange("deployStackTemplate");

  const { values, problems } = fill(parameters, typed);
  const failed = change.error ? failureView(change.error).fields : {};
  const isComplete = Object.keys(problems).length === 0 && projectId !== null;
  const input = (given: typeof values) => ({
    namespace,
    name,
    ...(orgId ? { org_id: orgId } : {}),
    body: {
      project_id: projectId ?? "",
      ...(appName ? { name: appName } : {}),
      ...(Object.keys(given).length > 0 ? { parameters: given } : {}),
    },
  });
  const shown = shownValues(parameters, values);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (!isComplete || change.isPending) return;
    try {
      const made = await change.mutateAsync(input(values));
      await navigate({
        to: appAddress(org.slug, { namespace: made.namespace, name: made.deploy_name }),
        search: appSearch({ project_id: projectId }) as never,
      });
    } catch {
      // The error is on screen, and the form stays for another try.
    }
  }

  return (
    <form onSubmit={(event) => void send(event)} noValidate>
      <Stack gap="md">
        <ProjectChoice
          to="deployStackTemplate"
          value={projectId}
          onChange={(id) => choose({ project: id ?? undefined })}
          problem={failed["project_id"] ?? (isTried && projectId === null ? "Choose a project." : undefined)}
        />
        <TextInput
          label="Name of the app"
          description="Left empty, it is named after the template."
          placeholder={name}
          value={appName}
          onChange={(event) => setAppName(event.currentTarget.value)}
          error={failed["name"]}
          autoComplete="off"
        />
        <ParameterForm
          parameters={parameters}
          typed={typed}
          onChange={(next) => {
            setTyped(next);
            // An answer about values that have changed since says nothing any more.
            if (change.error) change.reset();
          }}
          problems={isTried ? { ...parameterProblems(failed), ...problems } : {}}
        />
        {change.error ? <FailurePanel error={change.error} /> : null}
        <SameByCommand
          operation="deployStackTemplate"
          input={input(shown)}
          command={commandOf(`${namespace}/${name}`, appName, shown)}
        />
        <Group justify="flex-end">
          <Button type="submit" leftSection={<IconRocket size={16} aria-hidden />} loading={change.isPending}>
            Deploy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const word = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function commandOf(template: string, appName: string, values: Filled["values"]): string {
  const settings = Object.entries(values).map(([key, value]) => `--set ${word(`${key}=${value}`)}`);
  return ["binnacle templates deploy", template, "--project …", appName ? `--name ${word(appName)}` : "", ...settings]
    .filter(Boolean)
    .join(" ");
}
