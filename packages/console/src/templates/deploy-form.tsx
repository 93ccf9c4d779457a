import type { TemplateParameter } from "@binnacle/client";
import { TextInput } from "@mantine/core";
import { IconRocket } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useAll } from "../api/all.runner.ts";
import { prefixed } from "../api/failure.ts";
import { appAddress, appSearch } from "../components/addresses.ts";
import { OperationForm } from "../components/form.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { ProjectChoice } from "../projects/project-choice.tsx";
import { ParameterForm } from "./parameter-form.tsx";
import { type Filled, fill, shownValues, typedDefaults } from "./parameters.ts";

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
  const projects = useAll("listProjects", { org_id: org.id });
  const projectId = search["project"] ?? null;
  const begun = { project_id: "", name: "", parameters: typedDefaults(parameters) };
  const inputOf = (typed: typeof begun, values: Filled["values"]) => ({
    namespace,
    name,
    ...(orgId ? { org_id: orgId } : {}),
    body: {
      project_id: projectId ?? "",
      ...(typed.name ? { name: typed.name } : {}),
      ...(Object.keys(values).length > 0 ? { parameters: values } : {}),
    },
  });
  const read = (typed: typeof begun) => fill(parameters, typed.parameters);
  return (
    <OperationForm
      operation="deployStackTemplate"
      values={begun}
      validate={(typed) => ({
        ...(projectId === null ? { project_id: "Choose a project." } : {}),
        ...prefixed("parameters", read(typed).problems),
      })}
      input={(typed) => inputOf(typed, read(typed).values)}
      shownInput={(typed) => inputOf(typed, shownValues(parameters, read(typed).values))}
      action="Deploy"
      icon={<IconRocket size={16} aria-hidden />}
      named={projects.data}
      onDone={(made) =>
        void navigate({
          to: appAddress(org.slug, { namespace: made.namespace, name: made.deploy_name }),
          search: appSearch({ project_id: projectId ?? "" }) as never,
        })
      }
    >
      {({ field, values, set, problemsIn }) => (
        <>
          <ProjectChoice
            to="deployStackTemplate"
            value={projectId}
            onChange={(id) => choose({ project: id ?? undefined })}
            problem={field("project_id").error}
          />
          <TextInput
            label="Name of the app"
            description="Left empty, it is named after the template."
            placeholder={name}
            autoComplete="off"
            {...field("name")}
          />
          <ParameterForm
            parameters={parameters}
            typed={values.parameters}
            onChange={(typed) => set({ parameters: typed })}
            problems={problemsIn("parameters")}
          />
        </>
      )}
    </OperationForm>
  );
}
