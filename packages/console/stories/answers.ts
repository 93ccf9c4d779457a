/** What the API answers while components are shown without a server, by method and path. */
const ANSWERS: Readonly<Record<string, (() => Response) | undefined>> = {
  "POST /refresh": () => json(200, { access_token: "none", token_type: "bearer" }),
  "GET /user/me/access": () => json(200, { is_superuser: true, orgs: [], clusters: [], projects: [], more_roles: 0 }),
  "GET /orgs": () => page([org("Harbour", "harbour"), org("Lighthouse", "lighthouse")]),
  "GET /orgs/harbour/clusters": () => page([]),
  "GET /projects": () => page([]),
  "POST /orgs": () =>
    json(422, {
      detail: [
        { type: "string_too_short", loc: ["body", "name"], msg: "String should have at least 3 characters" },
        { type: "extra_forbidden", loc: ["body", "colour"], msg: "Extra inputs are not permitted" },
      ],
    }),
  "DELETE /orgs/busy": () => json(409, { detail: "The organization has clusters. Delete them first." }),
};

const HEADERS = { "content-type": "application/json", "x-request-id": "0193c0de" };
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: HEADERS });
const page = (data: readonly unknown[]) =>
  json(200, { data, total_count: data.length, has_more: false, page: 1, items_per_page: 100, next_cursor: null });
const org = (name: string, slug: string) => ({
  id: slug,
  name,
  slug,
  description: null,
  created_at: "2026-01-02T03:04:05Z",
  updated_at: "2026-01-02T03:04:05Z",
});

/** Answers all calls of the API. One that is not listed never ends, as on a slow network. */
export function answerCalls(): void {
  globalThis.fetch = async (target, init) => {
    const { pathname } = new URL(target instanceof Request ? target.url : target, location.href);
    const answer = ANSWERS[`${init?.method ?? "GET"} ${pathname.replace("/api/v1", "")}`];
    return answer ? answer() : new Promise<Response>(() => {});
  };
}
