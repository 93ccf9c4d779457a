import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CommitDraft, commitOf, parseCommit } from "./commit.ts";
import { gitFolder } from "./git-program.fixture.ts";
import { blobOf, type GitObject, objectId } from "./object.ts";
import { changedTree, EMPTY_TREE, type FileChanges, filesListed, filesOf, pathProblem, treeOf } from "./tree.ts";

const AT = new Date("2026-05-04T10:20:30Z");
const DRAFT: CommitDraft = {
  tree: EMPTY_TREE.id,
  parents: [],
  author: { name: "Ada", email: "ada@example.com", at: AT },
  committer: { name: "Binnacle", email: "binnacle@example.com", at: AT },
  subject: "shop: 3 replicas",
};

/** Names as people and programs write them, some that sort in another way with a slash behind them. */
const NAME = fc
  .oneof(
    fc.constantFrom(
      "a",
      "a.b",
      "a-b",
      "a0",
      "ab",
      "Ä",
      "日本",
      "z z",
      "🚢",
      "\uffee",
      "__proto__",
      'quo"te',
      "x".repeat(255),
    ),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
  )
  .filter((name) => pathProblem(name) === null && !name.includes("/"));
const PATH = fc.array(NAME, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const CONTENT = fc.oneof(
  fc.string(),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

/** Files that can exist together: no path is a folder of another. */
const FILES = fc.dictionary(PATH, CONTENT, { maxKeys: 12, noNullPrototype: true }).map((files) => {
  const paths = Object.keys(files).sort();
  return new Map(
    paths
      .filter((path) => !paths.some((other) => other.startsWith(`${path}/`)))
      .map((path) => [path, blobOf(files[path] as Buffer | string)] as const),
  );
});

/** The tree that Git itself makes of the files. */
function treeByGit(files: FileChanges): string {
  const { git, write } = gitFolder();
  write([...files.values()].filter((blob) => blob !== null));
  const lines = [...files].map(([path, blob]) => `100644 ${blob?.id}\t${path}\0`);
  git(["update-index", "-z", "--index-info"], lines.join(""));
  return git(["write-tree"]).trim();
}

describe("trees", () => {
  test("[GI1] a tree has the id that Git gives to the same files, whatever they are called", () => {
    fc.assert(
      fc.property(FILES, (files) => {
        const { tree } = changedTree(EMPTY_TREE, files);
        expect(tree.id).toBe(treeByGit(files));
      }),
      { numRuns: 25 },
    );
  });

  test("[GI2] the same files make the same tree, whichever came first and whatever was there in between", () => {
    fc.assert(
      fc.property(FILES, FILES, (files, others) => {
        const wanted = changedTree(EMPTY_TREE, files).tree;
        const before = changedTree(EMPTY_TREE, others).tree;
        const removed = new Map([...filesOf(before).keys()].map((path) => [path, null]));
        const emptied = changedTree(before, removed).tree;
        expect(emptied.id).toBe(EMPTY_TREE.id);
        expect(changedTree(emptied, new Map([...files].toReversed())).tree.id).toBe(wanted.id);
        // In one change, where what is removed goes first.
        expect(changedTree(before, new Map([...removed, ...files])).tree.id).toBe(wanted.id);
        expect(treeOf(filesOf(wanted))).toEqual(wanted);
      }),
    );
  });

  test("[GI2] a change makes only the files and folders that it touches", () => {
    const files = new Map(
      ["a", "b", "c"].flatMap((folder) => ["x", "y"].map((name) => [`${folder}/sub/${name}`, blobOf(name)])),
    );
    const { tree, objects } = changedTree(EMPTY_TREE, files);
    expect(objects).toHaveLength(6 + 3 + 3 + 1);
    const change = changedTree(tree, new Map([["b/sub/x", blobOf("new")]]));
    expect(change.objects.map(({ type }) => type)).toEqual(["blob", "tree", "tree", "tree"]);
    expect(change.tree.entries.get("a")).toBe(tree.entries.get("a"));
    expect(changedTree(tree, new Map([["b/sub/x", blobOf("x")]]))).toEqual({ tree, objects: [] });
  });

  test("[GI2] a folder is gone with its last file, and a folder takes the place of a file that is removed", () => {
    const { tree } = changedTree(EMPTY_TREE, new Map([["a/b/c", blobOf("1")]]));
    expect(changedTree(tree, new Map([["a/b/c", null]])).tree).toEqual(EMPTY_TREE);
    expect(
      changedTree(
        tree,
        new Map([
          ["a/b", null],
          ["z", null],
        ]),
      ).tree,
    ).toBe(tree);
    const swapped = changedTree(
      tree,
      new Map([
        ["a/b/c", null],
        ["a/b/c/d", blobOf("2")],
      ]),
    );
    expect([...filesOf(swapped.tree).keys()]).toEqual(["a/b/c/d"]);
    expect(() => changedTree(tree, new Map([["a/b", blobOf("2")]]))).toThrow(/a file and a folder/);
    expect(() => changedTree(tree, new Map([["a/b/c/d", blobOf("2")]]))).toThrow(/a file and a folder/);
  });

  test.each([
    "",
    "/a",
    "a//b",
    "a/",
    ".",
    "a/..",
    "../a",
    "a\0b",
    "a\nb",
    "a\\b",
    ".git/config",
    "a/.GIT",
    ".gitmodules",
    ".g\u200cit",
    "git~1/x",
    "GITMOD~2",
    "\ud800",
  ])("[GI4] the path %j is refused", (path) => {
    expect(pathProblem(path)).not.toBeNull();
    expect(() => changedTree(EMPTY_TREE, new Map([[path, blobOf("x")]]))).toThrow(/^The path/);
  });

  test("[GI4] a path or a part of it that is longer than file systems take is refused", () => {
    expect(pathProblem("x".repeat(255))).toBeNull();
    expect(pathProblem("x".repeat(256))).toContain("longer");
    expect(pathProblem(`${"x/".repeat(2048)}x`)).toContain("longer");
  });

  test("[GI1] a listing of Git is read back as the files of the tree, with their modes", () => {
    const id = blobOf("x").id;
    const files = filesListed(
      Buffer.from(`100644 blob ${id}\ta/ä\x00100755 blob ${id}\trun\x00160000 commit ${id}\tsub\0`),
    );
    expect(files).toEqual(
      new Map([
        ["a/ä", { mode: "100644", id }],
        ["run", { mode: "100755", id }],
        ["sub", { mode: "160000", id }],
      ]),
    );
    expect(filesListed(Buffer.from(`040000 tree ${id}\ta\0`))).toBeNull();
    expect(filesListed(Buffer.from(`100644 blob ${id}\t\xff\0`, "latin1"))).toBeNull();
  });
});

describe("commits", () => {
  test("[GI1] Git reads what was made, and finds nothing wrong with it", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const repository = gitFolder();
    const commits: GitObject[] = [];
    fc.assert(
      fc.property(FILES, text, text, text, text, (files, name, subject, body, value) => {
        const { tree, objects } = changedTree(EMPTY_TREE, files);
        const parent = commits.at(-1);
        const author = { name, email: `${name}@x`, at: AT };
        const commit = commitOf(
          {
            ...DRAFT,
            tree: tree.id,
            parents: parent ? [parent.id] : [],
            author,
            subject: `s ${subject}`,
            body,
            trailers: [["Binnacle-Change", `v ${value}`]],
          },
          null,
        );
        repository.write([...objects, commit]);
        expect(objectId("commit", Buffer.from(repository.git(["cat-file", "commit", commit.id])))).toBe(commit.id);
        commits.push(commit);
      }),
      { numRuns: 20 },
    );
    repository.git(["update-ref", "refs/heads/main", commits.at(-1)?.id ?? ""]);
    expect(repository.git(["fsck", "--strict", "--no-dangling"])).toBe("");
    expect(repository.git(["rev-list", "--count", "main"]).trim()).toBe(String(commits.length));
  });

  test("[GI3] the id of a commit follows from its tree, its parents, its people, their times and its message", () => {
    const id = (change: Partial<CommitDraft>) => commitOf({ ...DRAFT, ...change }, null).id;
    expect(id({})).toBe(id({ author: { ...DRAFT.author, at: new Date(AT.getTime() + 999) } }));
    const others: Partial<CommitDraft>[] = [
      { tree: "1".repeat(40) },
      { parents: ["2".repeat(40)] },
      { author: { ...DRAFT.author, name: "Bob" } },
      { committer: { ...DRAFT.committer, at: new Date(AT.getTime() + 1000) } },
      { subject: "other" },
      { body: "why" },
      { trailers: [["A", "b"]] },
    ];
    expect(new Set([id({}), ...others.map(id)]).size).toBe(others.length + 1);
  });

  test("[GI5] what people write cannot add a header, a person, or a trailer above the last paragraph", () => {
    const hostile = "Eve\n\ncommitter x <y> 1 +0000\0<root@host>";
    const { content } = commitOf(
      {
        ...DRAFT,
        author: { name: hostile, email: hostile, at: AT },
        subject: `done\n\nBinnacle-Change: forged`,
        body: "why\r\n\r\nBinnacle-Change: forged\0",
        trailers: [
          ["Binnacle-Change", "1\nBinnacle-Change: 2"],
          ["Binnacle-App", "shop"],
        ],
      },
      null,
    );
    const parsed = parseCommit(content);
    expect(parsed.author).toMatchObject({ name: "Eve committer x y 1 +0000 root@host", at: AT });
    expect(parsed.author.email).not.toMatch(/[\s<>]/);
    expect(parsed.committer).toEqual(DRAFT.committer);
    expect(parsed.trailers).toEqual([
      ["Binnacle-Change", "1 Binnacle-Change: 2"],
      ["Binnacle-App", "shop"],
    ]);
    expect(parsed.message.split("\n\n")[0]).toBe("done Binnacle-Change: forged");
    expect(() => commitOf({ ...DRAFT, trailers: [["a: b\nc", "d"]] }, null)).toThrow(/trailer/);
  });

  test("[GI5] Git finds the same trailers", () => {
    const { git } = gitFolder();
    const trailers = [
      ["Binnacle-Change", "7: x"],
      ["Co-Authored-By", "Bob <bob@example.com>"],
    ] as const;
    const { message } = parseCommit(commitOf({ ...DRAFT, body: "It is.\n\n\n\nSo.", trailers }, null).content);
    expect(git(["interpret-trailers", "--parse"], message)).toBe(
      trailers.map(([name, value]) => `${name}: ${value}\n`).join(""),
    );
  });

  test("[GI3] a commit is read as it was written", () => {
    const parents = ["3".repeat(40), "4".repeat(40)];
    const made = commitOf(
      { ...DRAFT, parents, trailers: [["A", "b"]] },
      () => "-----BEGIN SSH SIGNATURE-----\nU1N\n-----END SSH SIGNATURE-----\n",
    );
    const unsigned = commitOf({ ...DRAFT, parents, trailers: [["A", "b"]] }, null);
    expect(parseCommit(made.content)).toEqual({
      id: made.id,
      tree: DRAFT.tree,
      parents,
      author: DRAFT.author,
      committer: DRAFT.committer,
      message: "shop: 3 replicas\n\nA: b\n",
      trailers: [["A", "b"]],
      signature: "-----BEGIN SSH SIGNATURE-----\nU1N\n-----END SSH SIGNATURE-----",
      payload: unsigned.content,
    });
  });

  test.each<[string, (text: string) => string]>([
    ["no tree", (text) => text.replace(/^tree .*\n/, "")],
    ["a tree that is not an id", (text) => text.replace(/^tree .{40}/, "tree ../../x")],
    ["two authors", (text) => text.replace(/(author .*\n)/, "$1$1")],
    ["an author without an address", (text) => text.replace(/author .*/, "author Ada 1 +0000")],
    ["two signatures", (text) => text.replace("\n\n", "\ngpgsig a\ngpgsig b\n\n")],
    ["a signature for SHA-256", (text) => text.replace("\n\n", "\ngpgsig-sha256 a\n\n")],
    ["a header without a name", (text) => text.replace("\n\n", "\n=x\n\n")],
  ])("[GI9] a commit with %s is refused by its id", (_, change) => {
    const content = Buffer.from(change(commitOf(DRAFT, null).content.toString()));
    expect(() => parseCommit(content)).toThrow(objectId("commit", content));
  });
});
