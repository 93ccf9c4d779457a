import type { App, Deployment, DeploymentListItem } from "@binnacle/client";
import { addressOf, waited } from "./app-outcome.ts";
import { type Call, type Given, send } from "./command.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode } from "./host.ts";

type Known = Pick<Deployment | DeploymentListItem, "revision" | "status">;

/** The newest revision below this one that has run; the one before may never have. */
export const lastThatRan = (deployments: readonly Known[], below: number): number | null =>
  deployments.reduce<number | null>(
    (found, { revision, status }) =>
      status === "succeeded" && revision < below && revision > (found ?? 0) ? revision : found,
    null,
  );

/** Restores the last revision that ran, as a new one. */
export async function rolledBack(
  call: Call,
  address: AppAddress,
  more: { readonly allow_downgrade?: boolean | undefined } = {},
): Promise<App> {
  const { revision } = await send(call, "getApp", address);
  const deployments: Known[] = [];
  for await (const it of call.client.pages("listDeployments", address, { signal: call.host.interrupted })) {
    deployments.push(it);
    if (lastThatRan([it], revision) !== null) break;
  }
  const target = lastThatRan(deployments, revision);
  const name = `${address.namespace}/${address.name}`;
  if (target === null)
    throw new CliError(`No earlier revision of ${name} has run.`, EXIT.conflict, `binnacle apps history ${name}`);
  call.info(`Rolling ${name} back to revision ${target}, the last one that ran.`);
  return send(call, "rollbackApp", { ...address, body: { ...more, revision: target } });
}

/** Waits for a deployed app and, where it does not run, goes back to the last revision that ran. The failure is thrown all the same. */
export async function waitedOrRolledBack(
  call: Call,
  app: App,
  options: Given["options"],
): Promise<ExitCode | undefined> {
  try {
    return await waited(call, app, options, () => undefined);
  } catch (error) {
    const hasFailed = error instanceof CliError && (error.exitCode === EXIT.failed || error.exitCode === EXIT.timedOut);
    if (!options["rollbackOnFailure"] || !hasFailed) throw error;
    call.info(`error: ${error.message}`);
    try {
      await waited(call, await rolledBack(call, addressOf(app)), options, () => undefined);
    } catch (second) {
      const why = second instanceof Error ? second.message : String(second);
      throw new CliError(`${error.message} The rollback failed too: ${why}`, error.exitCode, error.fix);
    }
    throw new CliError(
      `Revision ${app.revision} of ${app.namespace}/${app.name} has failed and was rolled back: ${error.message}`,
      error.exitCode,
      `binnacle apps history ${app.namespace}/${app.name}`,
    );
  }
}
