import * as contract from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Command, isReference } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { wordsOf } from "./completion.ts";
import { exampleOf } from "./examples.ts";
import { type Machine, machine } from "./host.fixture.ts";

const pathOf = ({ usage }: Command) => usage.split(" ").filter((word) => !/^[<[]/.test(word));
const nameOf = (command: Command) => pathOf(command).join(" ");
const lineOf = (command: Command): string[] => {
  const example = exampleOf(command) ?? /Example: (.*)/.exec(command.notes ?? "")?.[1] ?? "";
  return wordsOf(example).slice(1).filter(Boolean);
};

/** What has a form of its own whatever is asked for, and why. */
const OWN_FORM: Readonly<Record<string, string>> = {
  completion: "It prints a script for a shell.",
  "apps exec": "It passes on the bytes of a command elsewhere.",
  "audit export": "It prints an entry on each line, as a log of any length.",
};

const operations = (Object.values(contract) as readonly unknown[]).filter(
  (it): it is contract.Operation => typeof it === "object" && it !== null && "success" in it && "path" in it,
);
const json = (status: number, body: unknown) =>
  new Response(body === null ? null : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json" },
  });

/** A control plane that answers every operation with the example of its answer. */
function answering(on: Machine): void {
  const made = {
    phase: "running",
    status: "succeeded",
    lifecycle: "ready",
    revision: 1,
    has_more: false,
    next_cursor: null,
  };
  on.fetch = async (input, init) => {
    const path = new URL(input as string).pathname.replace("/api/v1", "");
    const method = init?.method ?? "GET";
    const found = operations
      .filter((it) => it.method === method)
      .filter((it) => new RegExp(`^${it.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path))
      .sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
    if (!found) return json(404, { detail: "Not Found" });
    if (new Headers(init?.headers).get("accept") === "text/event-stream") {
      const lines =
        'event: log\ndata: {"component":"web","pod":"p","container":"web","time":"2026-01-31T10:00:00Z","line":"hello"}\n\nevent: end\ndata: {"reason":"complete"}\n\n';
      return new Response(lines, { status: 200, headers: { "content-type": "text/event-stream" } });
    }
    const [status, schema] = found.success;
    if (schema === null) return json(status, null);
    const example = contract.exampleOf(schema) as Record<string, unknown>;
    const known = Object.fromEntries(Object.entries(made).filter(([key]) => key in example));
    return json(status, { ...example, ...known, ...(Array.isArray(example["data"]) ? { total_count: 1 } : {}) });
  };
}

describe("every command", () => {
  test.each(COMMANDS.map((command) => [nameOf(command), command] as const))(
    "[BC2908] the help of `%s` has an example, which the program takes",
    async (name, command) => {
      const on = machine();
      const help = await on.run(...pathOf(command), "--help");
      expect(help.out).toContain(`Example: binnacle ${name}`);
      const stubs = COMMANDS.map(
        (it): Command => ({
          ...it,
          fields: it.fields.map((field) => (isReference(field.kind ?? "text") ? { ...field, kind: "text" } : field)),
          run: async () => (it === command ? 0 : 1),
        }),
      );
      const taking = machine({ BINNACLE_URL: "https://b.example.com", BINNACLE_TOKEN: "t" }, stubs);
      for (const file of ["request.yaml", "binnacle.yaml"]) taking.files.set(file, "{}");
      expect(await taking.piped("hush", ...lineOf(command))).toMatchObject({ code: 0 });
    },
  );

  test.each(["json", "yaml"] as const)(
    "[BC2904] -o %s has a result of every command in its own form",
    async (format) => {
      const wrong: string[] = [];
      let succeeded = 0;
      for (const command of COMMANDS) {
        const name = nameOf(command);
        if (name in OWN_FORM) continue;
        const on = machine({
          BINNACLE_URL: "https://b.example.com",
          BINNACLE_TOKEN: "t",
          BINNACLE_ORG: ID,
          BINNACLE_PROJECT: ID,
        });
        on.state = JSON.stringify({
          current: "prod",
          contexts: { prod: { url: "https://b.example.com", token: "t" } },
          aliases: { tail: "logs" },
        });
        on.files.set(
          "binnacle.yaml",
          "name: storefront\ncomponents:\n  - { name: web, workload_spec: { image: 'nginx:1' } }\n",
        );
        for (const file of ["request.yaml", "template.yaml"]) on.files.set(file, "{}");
        on.edit = (text) => text.replace("nginx", "httpd");
        answering(on);
        const words = lineOf(command).map((word) => NAMES[word] ?? word);
        const argv = [...words.slice(0, pathOf(command).length), "--yes", "--cluster", ID, "-o", format];
        const ran = await on.piped("hush", ...argv, ...words.slice(pathOf(command).length));
        if (ran.code !== 0 && ran.code !== 10) continue;
        succeeded++;
        if (!isOf(format, ran.out)) wrong.push(`${name}: ${ran.out.slice(0, 60)}`);
      }
      expect(wrong).toEqual([]);
      expect(succeeded).toBeGreaterThan(150);
    },
  );
});

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
/** Ids in the place of names, so that nothing has to be looked up. */
const NAMES: Readonly<Record<string, string>> = Object.fromEntries([
  ...["edge", "shop", "acme", "ada", "ada@example.com", "db", "postgresql", "aws", "ci", "charts", "ghcr"].map(
    (name) => [name, ID],
  ),
  ["shop/front", "shop/storefront"],
]);

/** A document, or one in each line or behind each `---` of a stream. */
function isOf(format: "json" | "yaml", text: string): boolean {
  if (text === "") return false;
  const parts = format === "json" ? [text] : text.split(/^---\n/m).filter(Boolean);
  const read = (part: string) => (format === "json" ? JSON.parse(part) : parse(part)) as unknown;
  try {
    return parts.every((part) => typeof read(part) === "object");
  } catch {
    return (
      format === "json" &&
      text
        .trim()
        .split("\n")
        .every((line) => line.startsWith("{"))
    );
  }
}
