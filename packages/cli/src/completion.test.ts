import { describe, expect, test } from "vitest";
import { COMMANDS } from "./commands.ts";
import { behindBreak, matching, positionOf, wordsOf } from "./completion.ts";
import { machine } from "./host.fixture.ts";

const at = (...line: string[]) => positionOf(COMMANDS, line);
const offered = (...line: string[]) => {
  const position = at(...line);
  return position.wanted.kind === "words" ? matching(position, position.wanted.words) : position.wanted;
};

describe("completion", () => {
  test.each([
    [["clu"], ["clusters"]],
    [["clusters", "rb"], ["rbac"]],
    [
      ["clusters", "rbac", ""],
      ["grant", "list", "replace", "revoke"],
    ],
    [["apps", "deploy", "--dr"], ["--dry-run"]],
    [
      ["apps", "deploy", "--d"],
      ["--debug", "--dry-run"],
    ],
    [
      ["apps", "deploy", "-o", "j"],
      ["json", "jsonpath="],
    ],
    [["apps", "deploy", "--output=y"], ["--output=yaml"]],
    [
      ["--color", ""],
      ["always", "auto", "never"],
    ],
    [
      ["completion", ""],
      ["bash", "fish", "zsh"],
    ],
    [["help", "apps", "dep"], ["deploy"]],
    [["apps", "list", "--sort", "dep"], ["deployed_at"]],
    [["apps", "nonsense", "x"], []],
    [
      ["users", "create", "ada", "--pass"],
      ["--password-file", "--password-stdin"],
    ],
  ])("[BC28] after %j there can stand %j", (line, words) => {
    expect(offered(...line)).toEqual(words);
  });

  test.each([
    [["apps", "show", "sh"], "app"],
    [["logs", ""], "app"],
    [["apps", "list", "--project", ""], "project"],
    [["--project", "shop", "apps", "show", ""], "app"],
    [["clusters", "show", "e"], "cluster"],
    [["context", "use", ""], "context"],
    [["templates", "deploy", "w"], "template"],
    [["addons", "create", "db", ""], "definition"],
    [["apps", "attach-addon", "front", ""], "addon"],
    [["apps", "logs", "front", "--component", ""], "component"],
    [["clusters", "upgrade-operator", "edge", ""], "cluster"],
  ])("[BC28] after %j a name of the kind %s is asked for", (line, of) => {
    expect(offered(...line)).toEqual({ kind: "names", of });
  });

  test.each([[["apps", "deploy", "-f", ""]], [["templates", "validate", ""]], [["apps", "exec", "x", "--", ""]]])(
    "[BC28] after %j a file is asked for",
    (line) => {
      expect(offered(...line)).toEqual({ kind: "files" });
    },
  );

  test("[BC28] the options and arguments before say where names are looked for", () => {
    expect(at("apps", "show", "--project", "shop", "--context=prod", "front", "")).toMatchObject({
      flags: { "--project": "shop", "--context": "prod" },
      args: ["front"],
    });
  });

  test("[BC2905] nothing is offered that does not begin with what is typed, or that a shell or the program would take for something else", () => {
    const position = at("context", "use", "pro");
    expect(matching(position, ["prod", "production eu", "test", "pro$d", "pro;d"])).toEqual(["prod"]);
    expect(matching(at("apps", "delete", ""), ["--yes", "-y", "web-1"])).toEqual(["web-1"]);
    expect(matching(at("apps", "list", "--project="), ["--yes", "shop"])).toEqual(["--project=shop"]);
    expect(wordsOf(`binnacle apps show "sh op" it\\ is fro`)).toEqual([
      ...["binnacle", "apps", "show", "sh op", "it is", "fro"],
    ]);
    expect(wordsOf("binnacle apps ")).toEqual(["binnacle", "apps", ""]);
    // Bash sees only what stands behind the colon of an address.
    expect(behindBreak("127.0.0.1:80", ["127.0.0.1:8080"], "\"'@><=;|&(:")).toEqual(["8080"]);
    expect(behindBreak("127", ["127.0.0.1:8080"], ":")).toEqual(["127.0.0.1:8080"]);
  });

  test("[BC2905] a control plane that does not answer completes no names, and says nothing", async () => {
    const on = machine({ BINNACLE_URL: "https://b.example.com", BINNACLE_TOKEN: "t" });
    on.fetch = () => Promise.reject(new TypeError("fetch failed"));
    expect(await on.run("__complete", "fish", "apps", "show", "")).toEqual({ code: 0, out: "words\n", err: "" });
    expect((await on.run("__complete", "bash", "binnacle apps ro", "=:")).out).toBe("words\nrollback\n");
    expect((await machine().run("completion", "tcsh")).code).toBe(2);
  });
});
