import { type Client, createClient, type SessionTokens } from "@binnacle/client";
import pc from "picocolors";
import { stringify } from "yaml";
import manifest from "../package.json" with { type: "json" };
import type { Call } from "./command.ts";
import { isCheckDue, noteContract } from "./contract.ts";
import { requestLines } from "./failure.ts";
import { Finder } from "./find.ts";
import { CliError, EXIT, type Host, printable } from "./host.ts";
import { type PositionOf, parsedFile, positionsIn } from "./manifest.ts";
import { type Format, parseFormat, rendered, type Style } from "./output.ts";
import { changeState, parseState, type Target, targetOf, withSession } from "./state.ts";

export const VERSION: string = manifest.version;

/** The options of every command. */
export interface Globals {
  readonly context?: string | undefined;
  readonly url?: string | undefined;
  readonly org?: string | undefined;
  readonly project?: string | undefined;
  readonly cluster?: string | undefined;
  readonly output: string;
  readonly color: "auto" | "always" | "never";
  readonly debug?: boolean;
  readonly yes?: boolean;
}

export interface Run {
  readonly host: Host;
  /** Writes of the session that are under way. */
  readonly pending: Promise<void>[];
  positionOf: PositionOf;
  exitCode?: number;
  /** Whether something was written to stdout, and what was said on stderr: a command without a result of its own tells that. */
  hasWritten?: boolean;
  readonly said: string[];
  /** Checks the contract of the control plane that the command has called, if it is time. */
  checkContract?: () => Promise<void>;
}

/** What a command is given to work with. */
export async function callOf(globals: Globals, run: Run): Promise<Call> {
  const { host } = run;
  const format = parseFormat(globals.output);
  const write = (text: string) => {
    run.hasWritten = true;
    host.out.write(text);
  };
  const wantsAuto = globals.color === "auto" && !host.env["NO_COLOR"] && host.env["TERM"] !== "dumb";
  const colorsFor = ({ isTerminal }: Host["out"]) =>
    pc.createColors(globals.color === "always" || (wantsAuto && isTerminal));
  const style: Style = {
    colors: colorsFor(host.out),
    columns: host.out.isTerminal ? host.out.columns : 0,
    get nowMs() {
      return host.now();
    },
  };
  const state = parseState(await host.readState());
  const fetch = globals.debug ? debugged(host) : host.fetch;
  let target: Target | null = null;
  let client: Client | null = null;
  const targetNow = () => (target ??= targetOf(state, globals, host.env));
  const clientNow = () => (client ??= connected(targetNow(), fetch, run));
  run.checkContract = async () => {
    const name = target?.name ?? null;
    if (client === null || name === null) return;
    // It is read again: the command may have signed out.
    const context = parseState(await host.readState()).contexts[name];
    if (!(context?.token || context?.session) || !isCheckDue(context.contract, host.now())) return;
    await noteContract(host, client, name).catch(() => undefined);
  };
  return {
    host,
    format,
    style,
    errColors: colorsFor(host.err),
    state,
    asked: globals,
    fetch,
    isConfirmed: globals.yes === true,
    get target() {
      return targetNow();
    },
    get client() {
      return clientNow();
    },
    get find() {
      return new Finder(clientNow(), globals, targetNow());
    },
    info(text) {
      run.said.push(text);
      host.err.write(`${printable(text, { lines: true, colors: true })}\n`);
    },
    show: (view, body) => write(rendered(view, { body, rows: [body], isList: false }, format, style)),
    item: (text, body) => write(itemText(format, text, body, style)),
    print: write,
    list(view, rows) {
      const shown = { body: { data: rows, total_count: rows.length }, rows, isList: true };
      if (rows.length > 0 || (format.kind !== "table" && format.kind !== "wide"))
        write(rendered(view, shown, format, style));
      else host.err.write("Nothing found.\n");
    },
    readAs(file, text) {
      run.positionOf = positionsIn(file, text);
      return parsedFile(file, text);
    },
    locate(positionOf) {
      run.positionOf = positionOf;
    },
    async confirm(question) {
      if (globals.yes) return;
      if (!host.isInteractive) throw new CliError(`${question} Nobody can be asked here.`, EXIT.usage, "add --yes");
      if (!(await host.confirm(question))) throw new CliError("Nothing was done.", EXIT.failed);
    },
  };
}

/** One of many that come one after the other: a line of JSON, a document of YAML, or the text that people read. */
function itemText(format: Format, text: string, body: unknown, style: Style): string {
  if (format.kind === "json") return `${JSON.stringify(body)}\n`;
  if (format.kind === "yaml") return `---\n${stringify(body)}`;
  if (format.kind === "jsonpath") return rendered(null, { body, rows: [body], isList: false }, format, style);
  return `${text}\n`;
}

/** What a command without a result of its own has done. */
export function showDone(call: Call, run: Run): void {
  if (run.hasWritten || !(["json", "yaml", "jsonpath"] as const).some((kind) => kind === call.format.kind)) return;
  call.show(null, { done: true, message: run.said.join("\n").trim() || null });
}

/** A client of the target. A session that it renews is kept for the next run. */
function connected({ url, name, credential }: Target, fetch: Host["fetch"], run: Run): Client {
  const onSession = (session: SessionTokens | null) => {
    if (name !== null) run.pending.push(changeState(run.host, (state) => withSession(state, name, session)));
  };
  return createClient({ url, userAgent: USER_AGENT, fetch, onSession, ...credential });
}

const USER_AGENT = `binnacle-cli/${VERSION}`;

/** Prints every request and how it was answered. */
function debugged(host: Host): Host["fetch"] {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    for (const line of requestLines(init?.method ?? "GET", url, new Headers(init?.headers), init?.body))
      host.err.write(`${line}\n`);
    const startedMs = host.now();
    const response = await host.fetch(input, init);
    const id = response.headers.get("x-request-id");
    host.err.write(
      `< ${response.status} in ${Math.round(host.now() - startedMs)} ms${id ? `, request ${printable(id)}` : ""}\n`,
    );
    return response;
  };
}
