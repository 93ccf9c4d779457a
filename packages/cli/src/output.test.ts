import { stripVTControlCharacters } from "node:util";
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  PreconditionFailed,
  RateLimited,
  ServerFault,
  TimedOut,
  Unauthenticated,
  Unreachable,
} from "@binnacle/client";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { durationMs, pairs } from "./command.ts";
import { bundleMoves } from "./commands/bundles.ts";
import { errorReport, exitCodeOf, masked, requestLines } from "./failure.ts";
import { CliError, EXIT, printable } from "./host.ts";
import { parsedFile, positionsIn } from "./manifest.ts";
import { ago, column, fitted, parseFormat, quantity, rendered, sparkline, state, view } from "./output.ts";

interface Named {
  readonly id?: string;
  readonly name: string;
  readonly status: string;
}

const VIEW = view<Named>(
  "name",
  column("NAME", "name"),
  { title: "STATUS", of: ({ status }) => state(status) },
  { title: "ID", isWide: true, of: ({ id }) => id },
);
const ROWS = [
  { id: "1", name: "sandbox", status: "connected" },
  { id: "2", name: "edge", status: "error" },
];
const LIST = { body: { data: ROWS, total_count: 2 }, rows: ROWS, isList: true };
const style = (columns = 0, hasColors = false) => ({ colors: pc.createColors(hasColors), columns, nowMs: 0 });
const show = (format: string, columns = 0, hasColors = false) =>
  rendered(VIEW, LIST, parseFormat(format), style(columns, hasColors));

describe("the output", () => {
  test.each([
    ["table", "NAME     STATUS\nsandbox  connected\nedge     error\n"],
    ["wide", "NAME     STATUS     ID\nsandbox  connected  1\nedge     error      2\n"],
    ["name", "sandbox\nedge\n"],
    [
      "yaml",
      'data:\n  - id: "1"\n    name: sandbox\n    status: connected\n  - id: "2"\n    name: edge\n    status: error\ntotal_count: 2\n',
    ],
    ["jsonpath=$.data[*].name", "sandbox\nedge\n"],
    ["jsonpath={.data[?@.status=='error'].id}", "2\n"],
    ["jsonpath=total_count", "2\n"],
  ])("[BC9] a list is printed as %s", (format, text) => {
    expect(show(format)).toBe(text);
  });

  test("[BC9] output as JSON is what the API answers", () => {
    expect(JSON.parse(show("json"))).toEqual(LIST.body);
    const one = rendered(VIEW, { body: ROWS[0], rows: ROWS.slice(0, 1), isList: false }, parseFormat("json"), style());
    expect(JSON.parse(one)).toEqual(ROWS[0]);
  });

  test.each(["xml", "jsonpath=$.data[", "jsonpath="])("[BC9] the output format %s is refused", (format) => {
    expect(() => parseFormat(format)).toThrow(CliError);
  });

  test("[BC10] [BC2906] a table fits the terminal: names, times and ids are whole, and texts are cut from the right", () => {
    const widths = (columns: number, ...natural: [string, number][]) =>
      fitted(
        natural.map(([title, width]) => ({ title, width })),
        columns,
      );
    const audit: [string, number][] = [
      ["TIME", 19],
      ["WHO", 17],
      ["ACTION", 10],
      ["CHANGE", 60],
    ];
    expect(widths(0, ...audit)).toEqual([19, 17, 10, 60]);
    expect(widths(80, ...audit)).toEqual([19, 17, 10, 28]);
    expect(widths(63, ...audit)).toEqual([19, 17, 10, 11]);
    expect(widths(60, ...audit)).toEqual([19, 15, 10, 10]);
    expect(widths(54, ...audit)).toEqual([19, 17, 10]);
    // An id that is cut is of no use, so it is left out.
    expect(widths(50, ["NAME", 12], ["MESSAGE", 80], ["ID", 36])).toEqual([12, 36]);
    expect(widths(80, ["NAME", 12], ["MESSAGE", 80], ["ID", 36])).toEqual([12, 28, 36]);
    expect(widths(10, ["NAME", 12], ["STATUS", 9])).toEqual([12]);
    const rows = [{ id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", name: "storefront-web", status: "error" }];
    const shown = rendered(VIEW, { body: rows, rows, isList: true }, parseFormat("wide"), style(40));
    expect(shown).toBe("NAME            STATUS\nstorefront-web  error\n(no room for: ID)\n");
  });

  test("[BC10] output passes no control characters of others on to a terminal, except colours of log lines", () => {
    const evil = "web\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u001b[0m\r\u009b1A";
    expect(printable(evil)).toBe("web\\x1b]0;owned\\x07\\x1b[2J\\x1b[31mred\\x1b[0m\\x0d\\x9b1A");
    expect(printable(evil, { colors: true })).toContain("\u001b[31mred\u001b[0m");
    const rows = [{ name: evil, status: "x\ny" }];
    const text = rendered(VIEW, { body: rows, rows, isList: true }, parseFormat("table"), style());
    expect(Array.from(text).filter((char) => char !== "\n" && /\p{Cc}/u.test(char))).toEqual([]);
  });

  test("[BC11] output has colours where they are asked for, and the columns stay aligned", () => {
    expect(show("table", 0, true)).toContain("\u001b[32mconnected\u001b[39m");
    expect(stripVTControlCharacters(show("table", 0, true))).toBe(show("table"));
  });

  test("[BC30] the comparison of two bundles begins with what cannot be undone", () => {
    const nothing = { added: [], removed: [] };
    const core = [
      { component: "traefik", from: "1", to: "2" },
      { component: "longhorn", from: "1.8.1", to: "1.9.0" },
      { component: "k3s", from: "v1.31.6+k3s1", to: "v1.31.8+k3s1" },
    ];
    const moves = bundleMoves({
      core,
      profiles: { ...nothing, changed: [] },
      os: nothing,
      ha_tiers: { added: ["ha"], removed: [] },
      settings: [],
    });
    expect(moves.map(({ component, warning }) => [component, warning !== null])).toEqual([
      ["longhorn", true],
      ["traefik", false],
      ["k3s", false],
      ["ha", false],
    ]);
  });

  test("[BC9] output shows numbers and times in one unit", () => {
    expect([quantity(1_258_291_200, "bytes"), quantity(0.3612, "cores"), quantity(5, "requests/s")]).toEqual([
      "1.17 GiB",
      "0.361",
      "5 requests/s",
    ]);
    const at = (ms: number) => ago(new Date(0).toISOString(), ms);
    expect([at(90_000), at(600_000), at(10_000_000), at(200_000_000), ago(null, 0)]).toEqual([
      "90s",
      "10m",
      "2h",
      "2d",
      null,
    ]);
    expect(sparkline([0, 4, 8], 10)).toBe("▁▅█");
    expect(sparkline([0, 0], 10)).toBe("▁▁");
  });
});

const facts = { operation: "getApp" };
const invalid = new Invalid("x", {
  ...facts,
  status: 422,
  body: {
    detail: [
      { loc: ["body", "components", 0, "workload_spec", "image"], msg: "Field required", type: "missing" },
      { loc: ["query", "page"], msg: "Input should be greater", type: "greater_than" },
    ],
  },
});

describe("an error", () => {
  test.each([
    [invalid, EXIT.usage],
    [new NotFound("x", facts), EXIT.notFound],
    [new Forbidden("x", facts), EXIT.refused],
    [new Unauthenticated("x", facts), EXIT.refused],
    [new RateLimited("x", facts), EXIT.refused],
    [new Conflict("x", facts), EXIT.conflict],
    [new PreconditionFailed("x", facts), EXIT.conflict],
    [new TimedOut("x", facts), EXIT.timedOut],
    [new Unreachable("x", facts), EXIT.unreachable],
    [new ServerFault("x", { ...facts, status: 503 }), EXIT.unreachable],
    [new ServerFault("x", { ...facts, status: 500 }), EXIT.failed],
    [new Error("x"), EXIT.failed],
  ])("[BC13] the error %s has its exit code", (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  test("[BC14] an error about fields names each, with its line in the file", () => {
    const text = "name: front\ncomponents:\n  - name: web\n    workload_spec: {}\n";
    expect(errorReport(invalid, positionsIn("binnacle.yaml", text)).lines).toEqual([
      "error: binnacle.yaml:4: components[0].workload_spec.image: Field required",
      "       page: Input should be greater",
    ]);
  });

  test("[BC14] an error says what to do next where that is known", () => {
    expect(errorReport(new Unauthenticated("User not authenticated.", facts)).lines).toEqual([
      "error: User not authenticated.",
      "fix: binnacle login",
    ]);
    const paused = new Conflict("The app is paused.", { ...facts, status: 409, code: "app_paused" });
    expect(errorReport(paused).lines.at(-1)).toBe("fix: binnacle apps resume <app>");
    expect(
      errorReport(new ServerFault("Boom.", { ...facts, status: 500, requestId: "r1", mayHaveHappened: true })).lines,
    ).toEqual([
      "error: Boom.",
      "The server may have carried it out all the same: look before you repeat it.",
      "request: r1",
    ]);
  });

  test("[BC14] an error in a YAML file names its line", () => {
    expect(() => parsedFile("body.yaml", "a: 1\nb: [\n")).toThrow(/^body\.yaml:\d+: /);
    expect(() => parsedFile("body.yaml", "a: 1\n---\nb: 2\n")).toThrow("several documents");
    expect(parsedFile("body.yaml", "")).toEqual({});
  });
});

describe("--debug", () => {
  test("[BC15] --debug shows requests without credentials and without values that may be secret", () => {
    const headers = new Headers({
      authorization: "Bearer hush",
      cookie: "refresh_token=hush",
      "content-type": "application/json",
    });
    const body = {
      name: "front",
      password: "hush",
      components: [
        {
          name: "web",
          secrets: { A: "hush" },
          workload_spec: { image: "nginx", env: [{ name: "B", value: "hush" }] },
          chart_spec: { values: { deep: { c: "hush" } } },
        },
      ],
    };
    const text = requestLines("POST", "https://b/api/v1/apps", headers, JSON.stringify(body)).join("\n");
    expect(text).not.toContain("hush");
    expect(text).toContain('"image":"nginx"');
    const secrets = requestLines(
      "PATCH",
      "https://b/api/v1/apps/a/b/components/web/secrets?project_id=1",
      headers,
      '{"KEY":"hush"}',
    ).join("\n");
    expect(secrets).toMatch(/"KEY":"\*\*\*"/);
    const form = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    expect(requestLines("POST", "https://b/api/v1/login", form, "username=ada&password=hush").at(-1)).toBe(
      ">   username=***&password=***",
    );
    expect(masked({ secret_access_key: ["hush"], enabled: true })).toEqual({
      secret_access_key: ["***"],
      enabled: true,
    });
  });
});

describe("a value of an option", () => {
  test("[BC16] the value of an option is checked before anything is asked of the server", () => {
    expect([durationMs("--timeout", "90"), durationMs("--timeout", "5m"), durationMs("--timeout", "250ms")]).toEqual([
      90_000, 300_000, 250,
    ]);
    expect(() => durationMs("--timeout", "soon")).toThrow(
      '--timeout takes a duration such as 30s, 5m or 1h, not "soon".',
    );
    expect(pairs("--set", ["replicas=3", "image=a=b", "empty="])).toEqual({ replicas: 3, image: "a=b", empty: "" });
    expect(() => pairs("--set", ["replicas"])).toThrow("--set takes key=value");
  });
});
