import { expect, test } from "vitest";
import type { Access } from "../api/access.ts";
import { filtered, type GalleryItem, galleryOf, lettersOf, mayWrite, type Scope, tagsOf } from "./gallery.ts";

const item = (name: string, facts: Partial<GalleryItem> = {}): GalleryItem => ({
  namespace: "registry",
  name,
  version: "1.0.0",
  scope: "global",
  description: null,
  tags: [],
  org_id: null,
  ...facts,
});
const stored = (name: string, org_id: string, facts: Partial<GalleryItem> = {}) => ({ ...item(name, facts), org_id });

test("[WC80] the gallery has the organization's templates, the global ones and the catalog, and none of another organization", () => {
  const own = [
    stored("ours", "o"),
    stored("theirs", "other", { scope: "organization" }),
    stored("shared", "other"),
    stored("ours", "other"),
  ];
  const items = galleryOf("o", own, [item("web-app")]);
  expect(items.map(({ name, org_id }) => [name, org_id])).toEqual([
    ["ours", "o"],
    ["shared", "other"],
    ["web-app", null],
  ]);
});

test("[WC80] a stored template is shown instead of the one of the catalog with the same address, because it is the one deployed", () => {
  const items = galleryOf("o", [stored("web-app", "o", { version: "2.0.0" })], [item("web-app"), item("job")]);
  expect(items.map(({ name, version }) => [name, version])).toEqual([
    ["web-app", "2.0.0"],
    ["job", "1.0.0"],
  ]);
});

test("[WC80] the template for a quick start stands first in the catalog, and the others keep their order", () => {
  const catalog = [item("a"), item("web-app", { tags: ["quick-start"] }), item("b")];
  expect(galleryOf("o", [], catalog).map(({ name }) => name)).toEqual(["web-app", "a", "b"]);
});

const all = [
  item("web-app", { tags: ["web", "quick-start"], description: "One stateless Web app" }),
  item("wordpress", { tags: ["web", "cms"] }),
  stored("pipeline", "o", { scope: "project", namespace: "data", tags: ["queue"] }),
];

test.each([
  [{}, ["web-app", "wordpress", "pipeline"]],
  [{ text: "WEB" }, ["web-app", "wordpress"]],
  [{ text: "stateless one" }, ["web-app"]],
  [{ text: "data" }, ["pipeline"]],
  [{ text: "nothing" }, []],
  [{ tag: "cms" }, ["wordpress"]],
  [{ scope: "catalog" }, ["web-app", "wordpress"]],
  [{ scope: "project" }, ["pipeline"]],
  [{ scope: "global" }, []],
])("[WC80] the filter %j leaves the templates %j", (filter, names) => {
  expect(filtered(all, filter).map(({ name }) => name)).toEqual(names);
});

test("[WC80] the gallery shows the most frequent tags first", () => {
  expect(tagsOf(all)).toEqual(["web", "cms", "queue", "quick-start"]);
});

test.each([
  ["web-app", "WA"],
  ["wordpress", "WO"],
  ["éclair", "ÉC"],
  ["a", "A"],
  ["🚀", "?"],
  ["", "?"],
])("[WC80] the template %s is shown with the letters %s", (name, letters) => {
  expect(lettersOf(name)).toBe(letters);
});

const nobody: Access = { is_superuser: false, orgs: [], clusters: [], projects: [], more_roles: 0 };
const member: Access = { ...nobody, orgs: [{ id: "o", name: "O", slug: "o", role: "member" }] };
const admin: Access = { ...nobody, orgs: [{ id: "o", name: "O", slug: "o", role: "admin" }] };
const editor: Access = { ...member, projects: [{ id: "p", cluster_id: "c", org_id: "o", role: "editor" }] };
const clusterEditor: Access = { ...member, clusters: [{ id: "c", org_id: "o", role: "editor" }] };
const superuser: Access = { ...nobody, is_superuser: true };

test.each<[string, Scope, Access, boolean]>([
  ["an editor of the project", "project", editor, true],
  ["an editor of the project's cluster", "project", clusterEditor, true],
  ["an administrator", "project", admin, true],
  ["a member", "project", member, false],
  ["an editor", "cluster", editor, false],
  ["an administrator", "cluster", admin, true],
  ["an administrator", "organization", admin, true],
  ["a member", "organization", member, false],
  ["an administrator", "global", admin, false],
  ["a superuser", "global", superuser, true],
])("[WC83] %s may or may not change a template of scope %s: %#", (_, scope, access, expected) => {
  const template = { org_id: "o", scope, project_id: scope === "project" ? "p" : null };
  expect(mayWrite(template, access, "c")).toBe(expected);
});
