import {
  ConfigProblems,
  configOrExit,
  exitOnOldNode,
  fail,
  limitGarbage,
  releaseStartupMemory,
  stopOnSignal,
} from "@binnacle/process";
import { DefaultPasswords } from "./accounts/default-password.store.ts";
import { CatalogProblems } from "./catalog/catalog.adapter.ts";
import { LOCAL_ADMIN, listeningPort, metricsAddress, parseConfig } from "./config.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { DatabaseRefused, DataDirectoryInUse } from "./database/embedded/embedded.adapter.ts";
import { MigrationFailed } from "./database/migrate.ts";
import { SchemaRefused } from "./database/migration.ts";
import { PoolerRefused } from "./database/pooler.adapter.ts";
import { BrokenImages } from "./images/image-store.adapter.ts";
import { openLog } from "./log.adapter.ts";
import { servingLine, welcome } from "./welcome.ts";

/** A sandbox connects within a few seconds; on a busy machine it may take longer, and the start does not depend on it. */
const SANDBOX_WITHIN_MS = 20_000;

exitOnOldNode("Binnacle");

const config = configOrExit(parseConfig);
const log = await openLog(config.logLevel, config.environment);
const running: { controlPlane: ControlPlane | null } = { controlPlane: null };
// Also during the start: the first process of a container gets no signal that it does not listen to.
stopOnSignal(log, async () => running.controlPlane?.stop());
const controlPlane = await start();
running.controlPlane = controlPlane;
releaseStartupMemory();
limitGarbage();
// A program that has read this line may stop the server, so signals are handled before.
if (config.environment === "local") await printWelcome();

async function start(): Promise<ControlPlane> {
  try {
    return await startControlPlane(config, {
      log,
      onLost: (error) => {
        log.fatal({ err: error }, "the embedded database is lost");
        process.exit(1);
      },
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isExpected = [
      ConfigProblems,
      DataDirectoryInUse,
      DatabaseRefused,
      PoolerRefused,
      SchemaRefused,
      CatalogProblems,
      BrokenImages,
      DefaultPasswords,
    ].some((kind) => error instanceof kind);
    if (isExpected) fail(message);
    if (code === "EADDRINUSE") fail(portTaken((error as { port?: number }).port));
    if (error instanceof MigrationFailed) log.fatal({ err: error.cause }, message);
    else log.fatal({ err: error }, "the start failed");
    process.exit(1);
  }
}

function portTaken(taken: number | undefined): string {
  const { port, variable } = listeningPort(config);
  const isMetrics = taken === metricsAddress(config)?.port && taken !== port;
  return `Port ${taken ?? port} is taken. Choose another with ${isMetrics ? "BINNACLE_METRICS_PORT" : variable}.`;
}

async function printWelcome(): Promise<void> {
  process.stdout.write(servingLine(controlPlane.url));
  const sandbox = await controlPlane.sandboxSettled(SANDBOX_WITHIN_MS);
  if (sandbox === null) return;
  const usesSeed = config.adminEmail === null && config.secrets.adminPassword === null;
  const credentials = usesSeed ? `${LOCAL_ADMIN.username} / ${LOCAL_ADMIN.password}` : null;
  process.stdout.write(welcome(controlPlane.url, credentials, sandbox));
}
