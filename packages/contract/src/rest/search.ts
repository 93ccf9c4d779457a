import Type, { type Static } from "typebox";
import { Nullable, SearchText, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

export const SEARCH_KINDS = ["app", "project", "cluster", "stack_template", "addon_instance"] as const;
export const MOST_RESULTS_OF_A_KIND = 8;

const SearchResult = Type.Object(
  {
    kind: Type.Enum(SEARCH_KINDS),
    id: Uuid(),
    name: Type.String({ examples: ["storefront"] }),
    namespace: Nullable(Type.String({ examples: ["shop"] })),
    project_id: Nullable(Uuid()),
    cluster_id: Nullable(Uuid()),
    detail: Nullable(
      Type.String({
        description: "The name of its cluster, of a cluster its organization, of a stack template its version.",
        examples: ["production"],
      }),
    ),
  },
  { title: "SearchResult" },
);
export type SearchResult = Static<typeof SearchResult>;

export const search = operation({
  id: "search",
  method: "GET",
  path: "/search",
  tag: "Overview",
  summary: "Find what you can see by a part of its name",
  description: `At most ${MOST_RESULTS_OF_A_KIND} of a kind; names that begin with the text come first. Upper and lower case are the same, and no character is a wildcard.`,
  credentials: "user",
  query: Type.Object({
    q: { ...SearchText("A part of the name."), minLength: 1 },
    org_id: Type.Optional(Uuid("Only in this organization, and global stack templates.")),
  }),
  success: [200, Type.Object({ results: Type.Array(SearchResult) }, { title: "SearchResults" })],
  readsMuch: true,
});
