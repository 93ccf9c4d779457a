import { type App, NotFound } from "@binnacle/client";
import { lineDiff } from "@binnacle/manifest/diff";
import { pathInFile } from "@binnacle/manifest/patch";
import { type Plan, planOf } from "@binnacle/manifest/plan";
import { type AppManifest, type Fields, toYaml } from "@binnacle/manifest/read";
import { waitedOrRolledBack } from "./app-rollback.ts";
import { type Call, type Given, isTable, send, textOf } from "./command.ts";
import { APP } from "./commands/app-views.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { appsIn, exported, type PositionOf, parsedFile, positionsIn, starter } from "./manifest.ts";
import { type Colors, column, view } from "./output.ts";

interface Step {
  readonly address: AppAddress;
  readonly positionOf: PositionOf;
  readonly plan: Plan;
  readonly etag: string | null;
}

/** Makes the apps of a file what the file says. */
export async function deploy(call: Call, { options }: Pick<Given, "options">): Promise<ExitCode | undefined> {
  const { host } = call;
  const file = textOf(options["file"]) ?? "binnacle.yaml";
  const text = file === "-" ? await host.readInput() : await host.readFile(file);
  return deployText(call, text, file === "-" ? "standard input" : file, options);
}

export async function deployText(
  call: Call,
  text: string,
  title: string,
  options: Given["options"],
): Promise<ExitCode | undefined> {
  const { host } = call;
  const steps: Step[] = [];
  for (const { document, ...app } of appsIn(title, text, options["envSubstitution"] ? host.env : null)) {
    steps.push({ ...(await stepOf(call, app, options)), positionOf: positionsIn(title, text, document) });
  }
  if (options["rollbackOnFailure"] && options["wait"] === false)
    throw new CliError("--rollback-on-failure has to wait for the outcome, so it does not go with --no-wait.");
  const changing = steps.filter(({ plan }) => plan.action !== "none");
  if (options["dryRun"] === true) {
    const answers = new Map<Step, App>();
    for (const step of changing) answers.set(step, await checked(call, step));
    showPlans(call, steps, answers);
    return changing.length > 0 ? EXIT.different : EXIT.ok;
  }
  for (const { address, plan } of steps) host.err.write(planText(call.errColors, address, plan));
  if (changing.length > 0 && host.isInteractive && !call.isConfirmed) {
    await call.confirm(
      changing.length === 1 ? "Apply this change?" : `Apply these changes to ${changing.length} apps?`,
    );
  }
  const rows: App[] = [];
  for (const step of steps) rows.push(...(await apply(call, step)));
  let outcome: ExitCode | undefined;
  try {
    for (const row of rows) outcome ??= await waitedOrRolledBack(call, row, options);
  } catch (error) {
    // Programs read what there is at the end, however it ended.
    if (!isTable(call)) await showApps(call, steps);
    throw error;
  }
  if (outcome === undefined || !isTable(call)) await showApps(call, steps);
  return outcome;
}

async function showApps(call: Call, steps: readonly Step[]): Promise<void> {
  const shown = await Promise.all(steps.map(({ address }) => call.client.call("getApp", address)));
  const [only] = shown;
  if (only && shown.length === 1 && !isTable(call)) call.show(APP, only);
  else call.list(APP, shown);
}

async function stepOf(call: Call, app: AppManifest, options: Given["options"]): Promise<Omit<Step, "positionOf">> {
  const id = await call.find.projectId(textOf(options["project"]) ?? call.asked.project ?? app.project);
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
  return { address, plan, etag: found?.etag ?? null };
}

function planText(colors: Colors, { namespace, name }: AppAddress, plan: Plan): string {
  const title = { create: "would be created", update: "would be changed", none: "is as the file says" }[plan.action];
  return [colors.bold(`${namespace}/${name} ${title}`), ...coloured(colors, plan)].map((line) => `${line}\n`).join("");
}

/** The plan as programs read it: an entry for each app, with what there is and what there would be. */
const PLAN = view<ReturnType<typeof planRow>>(
  ({ namespace, name }) => `${namespace}/${name}`,
  { title: "NAME", of: ({ namespace, name }) => `${namespace}/${name}` },
  column("ACTION", "action"),
);

const planRow = ({ address, plan }: Step, warnings: App["warnings"]) => {
  const { action, before, after } = plan;
  return { ...address, action, before: action === "create" ? null : before, after, warnings };
};

function showPlans(call: Call, steps: readonly Step[], answers: ReadonlyMap<Step, App>): void {
  const warned = steps.map((step) => ({ step, warnings: answers.get(step)?.warnings ?? [] }));
  if (!isTable(call))
    call.list(
      PLAN,
      warned.map(({ step, warnings }) => planRow(step, warnings)),
    );
  else for (const { address, plan } of steps) call.print(planText(call.style.colors, address, plan));
  for (const { message } of warned.flatMap(({ warnings }) => warnings)) call.info(`warning: ${message}`);
}

const SIGNS = { added: "+ ", removed: "- ", same: "  ", gap: "  …" } as const;

function coloured(colors: Colors, { before, after, action }: Plan): string[] {
  if (action === "none") return [];
  const paints = { added: colors.green, removed: colors.red, same: String, gap: colors.dim };
  const textOfVersion = (version: Fields) => (Object.keys(version).length === 0 ? "" : toYaml(version));
  return lineDiff(textOfVersion(before), textOfVersion(after)).map(({ kind, text }) =>
    paints[kind](printable(`${SIGNS[kind]}${text}`)),
  );
}

/** Has the control plane check a change as if it were made. Nothing is changed. */
async function checked(call: Call, step: Step): Promise<App> {
  const [app] = await apply(call, step, { dry_run: true });
  if (!app) throw new CliError("The control plane has not said what would become of it.", EXIT.failed);
  return app;
}

/** The tag of what was compared goes with it: a change that somebody else makes meanwhile is not overwritten. */
async function apply(call: Call, { address, plan, positionOf, etag }: Step, query = {}): Promise<readonly App[]> {
  call.locate((path) => positionOf(pathInFile(path, plan.indexes)));
  const signal = call.host.interrupted;
  if (plan.action === "create") {
    const { project_id } = address;
    return [await call.client.call("createApp", { ...query, body: { ...plan.body, project_id } }, { signal })];
  }
  if (plan.action === "none") return [];
  const input = { ...address, ...query, body: plan.body };
  return [await call.client.call("updateApp", input, { signal, ...(etag ? { ifMatch: etag } : {}) })];
}

export async function exportApp(call: Call, { input }: Given<AppAddress>): Promise<undefined> {
  const app = await send(call, "getApp", input);
  const { name } = await call.client.call("getProject", { id: app.project_id });
  const text = exported(app, name, call.target.url);
  if (isTable(call)) call.print(text);
  else call.show(null, parsedFile("the export", text));
  return undefined;
}

/** Writes a file for an image or of a running app. It needs no control plane for an image. */
export async function init(call: Call, { options }: Pick<Given, "options">): Promise<undefined> {
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
  call.info(`Wrote ${file}. Deploy it with: binnacle apps deploy -f ${file}`);
  return undefined;
}

/** `ghcr.io/acme/shop-front:1.2` is called `shop-front`. */
const nameFrom = (image: string): string =>
  (image.split("/").at(-1) ?? image)
    .replace(/[:@].*$/, "")
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "") || "app";
