import { type App, NotFound } from "@binnacle/client";
import { type Call, durationMs, type Field, type Given, send } from "./command.ts";
import { APP } from "./commands/app-views.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode } from "./host.ts";
import { type End, type Started, settled, WAIT_OPTIONS } from "./outcome.ts";
import { type Progress, progressLines, type Troubles, troublesOf, type Verdict, verdictOf } from "./progress.ts";
import { unsuspending } from "./suspension.ts";

/** The options of a command that waits for an app. */
export const WAITING: readonly Field<never>[] = [
  ...WAIT_OPTIONS,
  { from: "--fail-after <duration>", help: "how long a component may be in trouble, such as a missing image" },
];

const nameOf = ({ namespace, name }: Pick<App, "namespace" | "name">): string => `${namespace}/${name}`;
export const addressOf = ({ namespace, name, project_id }: App): AppAddress => ({ namespace, name, project_id });

/** Waits for the newest deployment of the app that was changed, unless told not to. */
export async function waited(
  call: Call,
  app: App,
  options: Given["options"],
  show: (app: App) => void = (seen) => call.show(APP, seen),
): Promise<ExitCode | undefined> {
  for (const { message } of app.warnings) call.info(`warning: ${message}`);
  const code = await settled<Progress>(call, options, await deploymentOf(call, app, options), (seen) => show(seen.app));
  // An app with a warning does not run, whether or not somebody waits for it.
  return options["wait"] === false && app.warnings.length > 0 ? EXIT.failed : code;
}

/** The app as it is now, with the deployment of its newest revision. */
async function deploymentOf(call: Call, app: App, options: Given["options"]): Promise<Started<Progress>> {
  const signal = call.host.interrupted;
  const { revision } = app;
  const address = addressOf(app);
  const name = nameOf(app);
  const failAfter = options["failAfter"];
  const failAfterMs = typeof failAfter === "string" ? durationMs("--fail-after", failAfter) : null;
  let deploymentId: string | undefined;
  let troubles: Troubles = new Map();
  return {
    notYet: `${name} does not run yet`,
    comeBack: `binnacle apps wait ${name}`,
    goesOn: `Revision ${revision} of ${name} is still being deployed.`,
    async observe() {
      deploymentId ??= await idOfRevision(call, address, revision);
      // One after the other: when the deployment has ended, the app is as it was at its end.
      const deployment = await call.client.call(
        "getDeployment",
        { ...address, deployment_id: deploymentId },
        { signal },
      );
      return { app: await call.client.call("getApp", address, { signal }), deployment };
    },
    lines: progressLines,
    end(progress, nowMs) {
      troubles = troublesOf(progress, troubles, nowMs);
      const verdict = verdictOf(progress, troubles, nowMs, failAfterMs);
      return verdict && endOf(verdict, progress.app, name, revision);
    },
  };
}

async function idOfRevision(call: Call, address: AppAddress, revision: number): Promise<string> {
  const signal = call.host.interrupted;
  const { data } = await call.client.call("listDeployments", { ...address, items_per_page: 100 }, { signal });
  const found = data.find((it) => it.revision === revision)?.deployment_id;
  if (found) return found;
  const { namespace, name } = address;
  throw new CliError(`Revision ${revision} of ${namespace}/${name} is not on record any more.`, EXIT.notFound);
}

function endOf(verdict: Verdict, app: App, name: string, revision: number): End {
  if (verdict.kind === "succeeded")
    return { done: `${name} is ${app.phase === "paused" ? "paused" : "running"} (revision ${revision}).` };
  if (verdict.kind === "superseded")
    return {
      cause: `Revision ${verdict.by} has replaced revision ${revision} of ${name}.`,
      exitCode: EXIT.conflict,
      fix: `binnacle apps history ${name}`,
    };
  if (verdict.kind === "suspended")
    return {
      cause: `Revision ${revision} of ${name} is stored and not applied, because ${verdict.cause}`,
      exitCode: EXIT.conflict,
      fix: unsuspending(verdict, name),
    };
  return {
    cause: verdict.cause,
    fix: revision > 1 ? `binnacle apps rollback ${name}` : `binnacle apps show ${name}`,
  };
}

/** Waits until a resource that was deleted is gone; `phaseOf` says how far its deletion is. */
export async function gone<T extends object>(
  call: Call,
  options: Given["options"],
  it: { readonly name: string; readonly comeBack: string; read(): Promise<T>; phaseOf(seen: T): string },
  refused: (seen: T) => End | null = () => null,
): Promise<ExitCode | undefined> {
  const { name, comeBack } = it;
  const deletion: Started<T | null> = {
    notYet: `${name} is not gone yet`,
    comeBack,
    goesOn: `${name} is still being deleted.`,
    observe: () =>
      it.read().catch((error: unknown) => {
        if (error instanceof NotFound) return null;
        throw error;
      }),
    lines: (seen) => (seen ? [{ mark: "·", tone: "warn", text: `${name}  ${it.phaseOf(seen)}` }] : []),
    end: (seen) => (seen ? refused(seen) : { done: `Deleted ${name}.` }),
  };
  return settled(call, options, deletion, (seen) => call.show(null, { name, deleted: seen === null }));
}

/** Waits for an app by what it is called. */
export async function waitForApp(call: Call, { input, options }: Given<AppAddress>): Promise<ExitCode | undefined> {
  return waited(call, await send(call, "getApp", input), { ...options, wait: true });
}
