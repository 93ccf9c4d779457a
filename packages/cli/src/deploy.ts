import { NotFound } from "@binnacle/client";
import { type Call, durationMs, type Field, type Given, send, textOf } from "./command.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { type AppDocument, diffLines, exported, type Plan, planOf, readManifest, starter } from "./manifest.ts";
import { type Colors, painted, type Row } from "./output.ts";
import { type Progress, progressLines, type Troubles, troublesOf, verdictOf } from "./progress.ts";
import { APP } from "./resources/app-views.ts";

const POLL_MS = 500;

export const WAITING: readonly Field[] = [
  { from: "--no-wait", kind: "flag", help: "do not wait until the app runs" },
  { from: "--timeout <duration>", help: "how long to wait", preset: "10m" },
  { from: "--fail-after <duration>", help: "how long a component may be in trouble, such as a missing image" },
];

interface Step {
  readonly app: AppDocument;
  readonly address: AppAddress;
  readonly plan: Plan;
  readonly etag: string | null;
}

/** Makes the apps of a file what the file says. */
export async function deploy(call: Call, { options }: Given): Promise<ExitCode | undefined> {
  const { host } = call;
  const file = textOf(options["file"]) ?? "binnacle.yaml";
  const text = file === "-" ? await host.readInput() : await host.readFile(file);
  const apps = readManifest(file === "-" ? "standard input" : file, text, options["envSubstitution"] ? host.env : null);
  const steps: Step[] = [];
  for (const app of apps) steps.push(await stepOf(call, app, options));
  const isDry = options["dryRun"] === true;
  for (const { address, plan } of steps) tellPlan(call, address, plan, isDry);
  const changing = steps.filter(({ plan }) => plan.action !== "none");
  if (isDry) return changing.length > 0 ? EXIT.usage : EXIT.ok;
  if (changing.length > 0 && host.isInteractive && !call.isConfirmed) {
    await call.confirm(
      changing.length === 1 ? "Apply this change?" : `Apply these changes to ${changing.length} apps?`,
    );
  }
  const rows: Row[] = [];
  for (const step of changing) rows.push(await apply(call, step));
  for (const row of rows) {
    const outcome = await waited(call, row, options);
    if (outcome !== undefined) return outcome;
  }
  const shown = await Promise.all(steps.map(({ address }) => send(call, "getApp", address)));
  if (shown.length === 1 && call.format.kind !== "table" && call.format.kind !== "wide") call.show(APP, shown[0]);
  else call.list(APP, shown);
  return undefined;
}

async function stepOf(call: Call, app: AppDocument, options: Given["options"]): Promise<Step> {
  const project = call.asked.project ?? app.project ?? undefined;
  const id = await call.find.projectId(project);
  const { namespace } = await call.client.call("getProject", { id });
  const address = { namespace, name: app.name, project_id: id };
  const found = await call.client.send("getApp", address, { signal: call.host.interrupted }).catch((error: unknown) => {
    if (error instanceof NotFound) return null;
    throw error;
  });
  const confirmations = {
    ...(options["recreate"] ? { recreate: true } : {}),
    ...(options["allowDowngrade"] ? { allow_downgrade: true } : {}),
  };
  const plan = planOf(app, found?.data ?? null, { updatesSecrets: options["updateSecrets"] === true, confirmations });
  return { app, address, plan, etag: found?.etag ?? null };
}

function tellPlan(call: Call, { namespace, name }: AppAddress, plan: Plan, isDry: boolean): void {
  const colors = isDry ? call.style.colors : call.errColors;
  const title = { create: "is created", update: "is changed", none: "is as the file says" }[plan.action];
  const lines = [colors.bold(`${namespace}/${name} ${title}`), ...coloured(colors, plan)]
    .map((line) => `${line}\n`)
    .join("");
  (isDry ? call.host.out : call.host.err).write(lines);
}

const coloured = (colors: Colors, { before, after, action }: Plan): string[] =>
  action === "none"
    ? []
    : diffLines(before, after).map(({ kind, text }) => {
        const paint = { added: colors.green, removed: colors.red, same: (line: string) => line, gap: colors.dim }[kind];
        return paint(printable(text));
      });

/** The tag of what was compared goes with it: a change that somebody else makes meanwhile is not overwritten. */
async function apply(call: Call, { address, plan, etag }: Step): Promise<Row> {
  call.locate(plan.positionOf);
  const { signal } = { signal: call.host.interrupted };
  if (plan.action === "create") {
    return call.client.call(
      "createApp",
      { body: { ...plan.body, project_id: address.project_id } as never },
      { signal },
    );
  }
  return call.client.call("updateApp", { ...address, body: plan.body } as never, {
    signal,
    ...(etag ? { ifMatch: etag } : {}),
  });
}

/** Waits for the newest deployment of the app that was changed, unless told not to. */
export async function waited(call: Call, app: Row, options: Given["options"]): Promise<ExitCode | undefined> {
  for (const { message } of app.warnings as Row[]) call.say(`warning: ${message}`);
  if (options["wait"] === false) {
    call.say(`Follow it with: binnacle apps wait ${app.namespace}/${app.name}`);
    // An app with a warning does not run, whether or not somebody waits for it.
    return app.warnings.length > 0 ? EXIT.failed : undefined;
  }
  const timeoutMs = durationMs("--timeout", textOf(options["timeout"]) ?? "10m");
  const failAfter = options["failAfter"];
  const failAfterMs = typeof failAfter === "string" ? durationMs("--fail-after", failAfter) : null;
  const address = { namespace: app.namespace, name: app.name, project_id: app.project_id };
  const name = `${app.namespace}/${app.name}`;
  try {
    return await watch(call, address, app.revision, timeoutMs, failAfterMs);
  } catch (error) {
    if (!call.host.interrupted.aborted) throw error;
    call.say(
      `\nRevision ${app.revision} of ${name} is still being deployed. Come back with: binnacle apps wait ${name}`,
    );
    return EXIT.interrupted;
  }
}

async function watch(
  call: Call,
  address: AppAddress,
  revision: number,
  timeoutMs: number,
  failAfterMs: number | null,
): Promise<undefined> {
  const { host } = call;
  const { signal } = { signal: host.interrupted };
  const name = `${address.namespace}/${address.name}`;
  const { data } = await call.client.call("listDeployments", { ...address, items_per_page: 100 }, { signal });
  const deployment_id = data.find((it) => it.revision === revision)?.deployment_id;
  if (!deployment_id) throw new CliError(`Revision ${revision} of ${name} is not on record any more.`, EXIT.notFound);
  const endMs = host.now() + timeoutMs;
  const screen = screenOf(call);
  let troubles: Troubles = new Map();
  for (;;) {
    const [app, deployment] = await Promise.all([
      call.client.call("getApp", address, { signal }),
      call.client.call("getDeployment", { ...address, deployment_id }, { signal }),
    ]);
    const progress: Progress = { app, deployment };
    screen(progress);
    troubles = troublesOf(progress, troubles, host.now());
    const verdict = verdictOf(progress, troubles, host.now(), failAfterMs);
    if (verdict?.kind === "succeeded") {
      call.say(`${name} is ${app.phase === "paused" ? "paused" : "running"} (revision ${revision}).`);
      return undefined;
    }
    if (verdict?.kind === "superseded")
      throw new CliError(
        `Revision ${verdict.by} has replaced revision ${revision} of ${name}.`,
        EXIT.conflict,
        `binnacle apps history ${name}`,
      );
    if (verdict?.kind === "failed")
      throw new CliError(
        verdict.cause,
        EXIT.failed,
        revision > 1 ? `binnacle apps rollback ${name}` : `binnacle apps show ${name}`,
      );
    if (host.now() >= endMs) {
      const open = progressLines(progress).map(({ text }) => text.trim());
      throw new CliError(`${name} does not run yet: ${open.join("; ")}`, EXIT.timedOut, `binnacle apps wait ${name}`);
    }
    await host.sleep(Math.min(POLL_MS, Math.max(1, endMs - host.now())), signal);
  }
}

/** On a terminal the lines are redrawn; elsewhere a line is printed when it has changed. */
function screenOf({ host, errColors }: Call): (progress: Progress) => void {
  const last = new Map<number, string>();
  let isNew = true;
  return (progress) => {
    const lines = progressLines(progress);
    if (host.err.isTerminal) {
      const width = host.err.columns - 1;
      const shortened = (text: string) =>
        Array.from(printable(text))
          .slice(0, width - 2)
          .join("");
      const drawn = lines.map(
        ({ mark, tone, text }) => `${painted(errColors, { text: mark, tone })} ${shortened(text)}`,
      );
      host.draw(drawn, isNew);
      isNew = false;
      return;
    }
    lines.forEach(({ mark, text }, index) => {
      if (last.get(index) !== text) host.err.write(`${mark} ${printable(text)}\n`);
      last.set(index, text);
    });
  };
}

export async function waitForApp(call: Call, { input, options }: Given): Promise<ExitCode | undefined> {
  const app = await send(call, "getApp", input);
  return waited(call, app, { ...options, wait: true });
}

export async function exportApp(call: Call, { input }: Given): Promise<undefined> {
  const app = await send(call, "getApp", input);
  const { name } = await call.client.call("getProject", { id: app.project_id });
  call.host.out.write(exported(app, name, call.target.url));
  return undefined;
}

/** Writes a file for an image or of a running app. It needs no control plane for an image. */
export async function init(call: Call, { options }: Given): Promise<undefined> {
  const file = textOf(options["file"]) ?? "binnacle.yaml";
  const from = options["fromApp"];
  const image = options["image"];
  if ((from === undefined) === (image === undefined)) throw new CliError("Give either --image or --from-app.");
  let text: string;
  if (typeof from === "string") {
    const app = await call.client.call("getApp", await call.find.app(from));
    const { name } = await call.client.call("getProject", { id: app.project_id });
    text = exported(app, name, call.target.url);
  } else {
    const named = textOf(options["name"]) ?? nameFrom(String(image));
    const port = options["port"];
    const url =
      call.state.current === null && !call.host.env["BINNACLE_URL"] ? "http://127.0.0.1:8080" : call.target.url;
    text = starter(named, String(image), typeof port === "number" ? port : null, call.asked.project ?? null, url);
  }
  await call.host.writeFile(file, text, options["force"] === true);
  call.say(`Wrote ${file}. Deploy it with: binnacle apps deploy -f ${file}`);
  return undefined;
}

/** `ghcr.io/acme/shop-front:1.2` is called `shop-front`. */
const nameFrom = (image: string): string =>
  (image.split("/").at(-1) ?? image)
    .replace(/[:@].*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "") || "app";
