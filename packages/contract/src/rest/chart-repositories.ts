import Type, { type Static } from "typebox";
import { DisplayName, ReadName, strict, Timestamp, Uuid, Whole } from "../fields.ts";
import { operation } from "../operation.ts";

/** The limit of one organization, because all of its repositories are sent to its clusters in one frame. */
export const MAX_CHART_REPOSITORIES = 50;

const fields = {
  name: DisplayName("Charts of Acme"),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: "^(https?|oci)://[A-Za-z0-9\\[][!-~]*$",
    description:
      "A Helm repository or an OCI registry, or a path of it. The credentials are presented at this host alone, for " +
      "charts at this address and below; of several addresses the longest counts. `http://` is for hosts on the allow-list.",
    examples: ["oci://registry.example.com/acme"],
  }),
  username: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: "^[^\\x00-\\x1f\\x7f:]+$",
    examples: ["robot"],
  }),
};
const password = Type.String({
  minLength: 1,
  maxLength: 8192,
  pattern: "^[^\\x00-\\x1f\\x7f]+$",
  description: "Written and never read back.",
  examples: ["<REPOSITORY_PASSWORD>"],
});

export const ChartRepository = Type.Object(
  {
    id: Uuid(),
    org_id: Uuid(),
    ...fields,
    name: ReadName("Charts of Acme"),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "ChartRepository", description: "Credentials of a private chart repository, without the password." },
);
export type ChartRepository = Static<typeof ChartRepository>;

export const ChartRepositoryInput = Type.Object({ ...fields, password }, { ...strict, title: "ChartRepositoryInput" });
export type ChartRepositoryInput = Static<typeof ChartRepositoryInput>;

export const ChartRepositoryChanges = Type.Object(
  {
    name: Type.Optional(fields.name),
    url: Type.Optional(fields.url),
    username: Type.Optional(fields.username),
    password: Type.Optional(password),
  },
  {
    ...strict,
    minProperties: 1,
    dependentRequired: { url: ["password"], username: ["password"] },
    description: "A new `url` or `username` comes with its `password`: a stored password stays where it was meant for.",
    examples: [{ name: "Charts of Acme", password: "<REPOSITORY_PASSWORD>" }],
  },
);
export type ChartRepositoryChanges = Static<typeof ChartRepositoryChanges>;

const tag = "Chart repositories";
const params = Type.Object({ id: Uuid() });
const oneParams = Type.Object({ id: Uuid(), repository_id: Uuid() });
const all = { path: "/orgs/{id}/chart-repositories", tag, credentials: "user" } as const;
const one = { path: "/orgs/{id}/chart-repositories/{repository_id}", tag, credentials: "user" } as const;

export const listChartRepositories = operation({
  ...all,
  id: "listChartRepositories",
  method: "GET",
  summary: "List the private chart repositories of an organization, newest first",
  params,
  success: [200, Whole(ChartRepository)],
  failures: [403, 404],
});

export const createChartRepository = operation({
  ...all,
  id: "createChartRepository",
  method: "POST",
  summary: "Store the credentials of a private chart repository; org admin",
  description:
    "The password is sealed and never returned. The control plane uses it to look into charts, and the clusters of the " +
    "organization use it to download them.",
  params,
  body: ChartRepositoryInput,
  success: [201, ChartRepository],
  failures: [403, 404, 409],
});

export const getChartRepository = operation({
  ...one,
  id: "getChartRepository",
  method: "GET",
  summary: "Read a private chart repository, without its password",
  params: oneParams,
  success: [200, ChartRepository],
  failures: [403, 404],
});

export const updateChartRepository = operation({
  ...one,
  id: "updateChartRepository",
  method: "PATCH",
  summary: "Change a private chart repository; org admin",
  description: "Fields left out stay.",
  params: oneParams,
  body: ChartRepositoryChanges,
  success: [200, ChartRepository],
  failures: [403, 404, 409],
});

export const deleteChartRepository = operation({
  ...one,
  id: "deleteChartRepository",
  method: "DELETE",
  summary: "Delete the credentials of a private chart repository; org admin",
  description:
    "What was installed with them stays as it is. The next change of it needs a repository that is readable.",
  params: oneParams,
  success: [204, null],
  failures: [403, 404],
});
