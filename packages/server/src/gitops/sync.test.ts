import { describe, expect, test } from "vitest";
import { EMPTY_TREE, filesOf } from "../git/tree.ts";
import { bytesOf, fileText } from "./content.ts";
import { apiUrl, sshUrlOf } from "./git-access.ts";
import { isTooMuch, laneOf } from "./outbox.ts";
import { commitUrl, stateOf } from "./status.ts";
import {
  commitsOf,
  differingPaths,
  nextRows,
  type OutboxRow,
  repositoryName,
  retryInSeconds,
  standingOf,
} from "./sync.ts";

const AT = new Date("2026-11-19T12:00:00Z");
const row = (revision: number, more: Partial<OutboxRow> = {}): OutboxRow => ({
  ...{ cluster_id: "c", revision, org_id: "o", at: AT, summary: `change ${revision}` },
  ...{ author_name: "Ada", author_email: "ada@example.com", audit_id: null, request_id: null },
  ...{ files: { [`f${revision}.yaml`]: `${revision}\n` }, resources: [], bytes: 10 },
  ...more,
});
const sign = () => "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----\n";

describe("what is written next", () => {
  test.each([
    ["the head on record", "a", null, "a", "ours"],
    ["no branch before the first commit", null, null, null, "ours"],
    ["the head of a push whose end nobody has seen", "a", "b", "b", "arrived"],
    ["the head on record although a push was begun", "a", "b", "a", "ours"],
    ["another commit", "a", "b", "c", "foreign"],
    ["a commit before the first of ours", null, null, "c", "foreign"],
    ["no branch any more", "a", null, null, "foreign"],
  ] as const)("[GO46] %s is judged by what is on record", (_, head, pushing_head, atHost, expected) => {
    expect(standingOf({ head, pushing_head }, atHost)).toBe(expected);
  });

  test.each([
    ["all changes", [row(1), row(2)], [1, 2]],
    ["a whole state alone", [row(1, { files: null }), row(2)], [1]],
    ["changes up to a whole state", [row(1), row(2, { files: null }), row(3)], [1]],
    ["changes up to the bytes of a push", [row(1, { bytes: 1 }), row(2, { bytes: 16 * 1024 * 1024 }), row(3)], [1]],
    ["one change that is larger by itself", [row(1, { bytes: 99 * 1024 * 1024 }), row(2)], [1]],
    [
      "a hundred at once",
      Array.from({ length: 102 }, (_, index) => row(index + 1)),
      Array.from({ length: 100 }, (_, index) => index + 1),
    ],
    ["nothing", [], []],
  ] as const)("[GO44] what is pushed together is %s", (_, rows, expected) => {
    expect(nextRows(rows).map(({ revision }) => revision)).toEqual(expected);
  });

  test("[GO45] the same changes on the same head are the same commits, however they are divided", () => {
    const rows = [row(1), row(2), row(3, { files: { "f1.yaml": null } })];
    const all = commitsOf(rows, null, EMPTY_TREE, sign);
    expect(commitsOf(rows, null, EMPTY_TREE, sign)).toEqual(all);
    expect(new Set(all.commits.map(({ commit }) => commit)).size).toBe(3);
    expect(commitsOf(rows.slice(0, 1), null, EMPTY_TREE, sign).head).toBe(all.commits[0]?.commit);
    expect([...filesOf(EMPTY_TREE).keys()]).toEqual([]);
    expect(all.revision).toBe(3);
  });

  test("[GO44] a host that is down is asked again within a minute, however long it has been down", () => {
    expect([1, 2, 3, 4, 50].map(retryInSeconds)).toEqual([10, 20, 40, 60, 60]);
  });

  test.each([
    [4_999, 0, false],
    [5_000, 0, true],
    [1, 64 * 1024 * 1024, true],
  ])(
    "[GO47] with %i changes and %i bytes waiting it is %s that one more is written as the whole state",
    (rows, bytes, expected) => {
      expect(isTooMuch({ rows, bytes })).toBe(expected);
    },
  );

  test("[GO49] the repositories of an organization are in three lanes, each always in the same", () => {
    const ids = Array.from(
      { length: 300 },
      (_, index) => `01932c07-31f1-7a4e-8d8b-6f1a2f0c${index.toString(16).padStart(4, "0")}`,
    );
    expect(new Set(ids.map((id) => laneOf("o", id))).size).toBe(3);
    expect(ids.map((id) => laneOf("o", id))).toEqual(ids.map((id) => laneOf("o", id)));
  });
});

describe("content", () => {
  const FILE = { path: "p", kind: "App", name: "web", namespace: "shop" };
  const body = (components: object[]) =>
    ({ spec: { namespace: "shop", name: "web", components }, secret: { secrets: {}, values: {} } }) as never;

  test("[GO41] equal content is an equal text, whatever the order of its keys", () => {
    const one = fileText(FILE, "id", { body: body([{ name: "a", type: "workload" }]) });
    expect(fileText(FILE, "id", { body: body([{ type: "workload", name: "a" }]) })).toBe(one);
    expect(one).not.toContain("secret:");
  });

  test("[GO52] the file of a resource that cannot be sent says why", () => {
    expect(fileText(FILE, "id", { problem: "The definition is gone." })).toContain("not-sent: The definition is gone.");
  });

  test("[GO47] an app of 2,000 components is a file within the size of one change", () => {
    const components = Array.from({ length: 2_000 }, (_, index) => ({
      name: `component-${index}`,
      type: "workload",
      workload_spec: {
        image: `registry.example.com/team/component-${index}:1.0.0`,
        replicas: 2,
        ports: [{ port: 8080 }],
      },
    }));
    expect(bytesOf({ "projects/shop/apps/web.yaml": fileText(FILE, "id", { body: body(components) }) })).toBeLessThan(
      4 * 1024 * 1024,
    );
  });

  test("[GO50] files that are missing, other, additional or not plain files differ", () => {
    const id = "9daeafb9864cf43055ae93beb0afd6c7d144bfa4";
    const wanted = new Map([
      ["same", "test\n"],
      ["other", "test\n"],
      ["missing", "x"],
      ["link", "test\n"],
    ]);
    const found = new Map([
      ["same", { mode: "100644", id }],
      ["other", { mode: "100644", id: "0".repeat(40) }],
      ["additional", { mode: "100644", id }],
      ["link", { mode: "120000", id }],
    ]);
    expect(differingPaths(wanted, found)).toEqual(["additional", "link", "missing", "other"]);
  });
});

test.each([
  ["gitea", "https://git.example.com", "https://git.example.com", "ssh://git@git.example.com"],
  ["github", "https://github.com", "https://api.github.com", "ssh://git@github.com"],
  ["github", "https://ghe.example.com", "https://ghe.example.com/api/v3", "ssh://git@ghe.example.com"],
  ["gitlab", "https://lab.example.com:8443", "https://lab.example.com:8443", "ssh://git@lab.example.com"],
] as const)("[GO1] the API of %s at %s is at %s and its repositories at %s", (provider, base, api, ssh) => {
  expect([apiUrl(provider, base), sshUrlOf(base, null)]).toEqual([api, ssh]);
  expect(sshUrlOf(base, "ssh://git@x:2222")).toBe("ssh://git@x:2222");
});

describe("status", () => {
  const settings = {} as never;
  const NOW = new Date("2026-11-19T12:00:00Z");
  const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000);
  const repository = (more: object) =>
    ({ head: "a", foreign_head: null, error_code: null, observed_at: hoursAgo(1), ...more }) as never;
  const pending = (changes: number) => ({ changes, since: null });
  test.each([
    ["off", { settings: null, repository: null, pending: pending(0) }],
    ["waiting", { settings, repository: null, pending: pending(0) }],
    ["pending", { settings, repository: null, pending: pending(1) }],
    ["in_sync", { settings, repository: repository({}), pending: pending(0) }],
    ["in_sync", { settings, repository: repository({ observed_at: hoursAgo(2.9) }), pending: pending(0) }],
    ["unknown", { settings, repository: repository({ observed_at: hoursAgo(3) }), pending: pending(0) }],
    ["unknown", { settings, repository: repository({ observed_at: null }), pending: pending(0) }],
    ["pending", { settings, repository: repository({ observed_at: null }), pending: pending(2) }],
    ["pending", { settings, repository: repository({}), pending: pending(2) }],
    ["failing", { settings, repository: repository({ error_code: "denied" }), pending: pending(0) }],
    ["ahead", { settings, repository: repository({ foreign_head: "" }), pending: pending(3) }],
  ])("[GO60] the state is %s", (expected, facts) => {
    expect(stateOf(facts, NOW)).toBe(expected);
  });

  test.each([
    ["gitea", "https://g.example/acme/r/commit/1"],
    ["github", "https://g.example/acme/r/commit/1"],
    ["gitlab", "https://g.example/acme/r/-/commit/1"],
    ["gitolite", null],
  ] as const)("[GO61] a commit at %s has the address %s", (provider, expected) => {
    expect(commitUrl({ provider, base_url: "https://g.example", owner: "acme" }, "r", "1")).toBe(expected);
  });

  test.each([
    ["Production EU", "production-eu-6f1a2f0c"],
    ["Größe / 1", "gro-e-1-6f1a2f0c"],
    ["日本", "cluster-6f1a2f0c"],
  ])("[GO20] the repository of the cluster %s is %s", (name, expected) => {
    expect(repositoryName({ id: "01932c07-31f1-7a4e-8d8b-00006f1a2f0c", name })).toBe(expected);
  });
});
