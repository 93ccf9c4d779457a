import { SimpleGrid, Stack, TextInput } from "@mantine/core";
import { IconRocket } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { appAddress, appSearch } from "../../components/addresses.ts";
import { binnacleOf, quoted } from "../../components/commands.ts";
import { OperationForm } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { useOrg } from "../../frame/org.tsx";
import { ProjectChoice } from "../../projects/project-choice.tsx";
import { componentsOf, fieldProblems, type ImageForm, nameAfter } from "./from-image.ts";

const EMPTY: ImageForm & { readonly project_id: string } = { name: "", image: "", port: "", host: "", project_id: "" };
const nameOf = ({ name, image }: ImageForm) => name || nameAfter(image);

/** Written out, because no operation of the API is behind `apps init`: it writes a file on the computer where it runs. */
const initOf = (form: ImageForm) =>
  `binnacle apps init --image ${quoted(form.image || "…")} --name ${quoted(nameOf(form) || "…")}${form.port ? ` --port ${form.port}` : ""}`;

/** From an image to a running app in one screen. */
export function ImageSource() {
  const org = useOrg();
  const navigate = useNavigate();
  const [search, choose] = usePageSearch();
  const projectId = search["project"] ?? null;
  return (
    <Section title="Run an image">
      <OperationForm
        operation="createApp"
        values={EMPTY}
        input={(form) => ({
          body: { name: nameOf(form), project_id: projectId ?? "", components: componentsOf(form) },
        })}
        renameErrors={fieldProblems}
        action="Create app"
        icon={<IconRocket size={16} aria-hidden />}
        isReady={(form) => projectId !== null && nameOf(form) !== "" && form.image.trim() !== ""}
        command={(form) => `${initOf(form)} && ${binnacleOf("createApp", { body: { project_id: projectId ?? "" } })}`}
        onDone={(app) => void navigate({ to: appAddress(org.slug, app), search: appSearch(app) as never })}
      >
        {({ field, values, set }) => (
          <Stack maw={720}>
            <ProjectChoice
              to="createApp"
              value={projectId}
              onChange={(id) => choose({ project: id ?? undefined })}
              problem={field("project_id").error}
            />
            <TextInput
              label="Image"
              description="A reference as container runtimes take it."
              placeholder="nginx:1.29"
              withAsterisk
              spellCheck={false}
              {...field("image")}
            />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput
                label="Name"
                placeholder={nameAfter(values.image) || "shop"}
                spellCheck={false}
                {...field("name")}
              />
              <TextInput
                label="Port"
                placeholder="none"
                inputMode="numeric"
                {...field("port")}
                onChange={(event) => set({ port: event.currentTarget.value.replace(/\D/g, "").slice(0, 5) })}
              />
            </SimpleGrid>
            <TextInput
              label="Public host"
              description="Left empty, it is reached from within the cluster only."
              placeholder="shop.example.com"
              spellCheck={false}
              {...field("host")}
            />
          </Stack>
        )}
      </OperationForm>
    </Section>
  );
}
