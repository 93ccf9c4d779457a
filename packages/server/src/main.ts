import { configOrExit, exitOnOldNode, fail, releaseStartupMemory, stopOnSignal } from "@binnacle/process";
import { DefaultPasswords } from "./accounts/default-password.store.ts";
import { CatalogProblems } from "./catalog/catalog.adapter.ts";
import { LOCAL_ADMIN, listeningPort, metricsAddress, parseConfig } from "./config.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { DataDirectoryInUse } from "./database/embedded/placement.ts";
import { openLog } from "./log.adapter.ts";

exitOnOldNode("Binnacle");

const config = configOrExit(parseConfig);
const log = await openLog(config.logLevel, config.environment);
const controlPlane = await start();
releaseStartupMemory();
stopOnSignal(log, () => controlPlane.stop());
if (config.environment === "local") process.stdout.write(welcome(controlPlane.url));

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
    const isExpected = [DataDirectoryInUse, CatalogProblems, DefaultPasswords].some((kind) => error instanceof kind);
    if (isExpected) fail(message);
    if (code === "EADDRINUSE") fail(portTaken((error as { port?: number }).port));
    log.fatal({ err: error }, "the start failed");
    process.exit(1);
  }
}

function portTaken(taken: number | undefined): string {
  const { port, variable } = listeningPort(config);
  const isMetrics = taken === metricsAddress(config)?.port && taken !== port;
  return `Port ${taken ?? port} is taken. Choose another with ${isMetrics ? "BINNACLE_METRICS_PORT" : variable}.`;
}

function welcome(url: string): string {
  const usesSeed = config.adminEmail === null && config.secrets.adminPassword === null;
  const signIn = usesSeed ? `  Sign in:  ${LOCAL_ADMIN.username} / ${LOCAL_ADMIN.password}\n` : "";
  return `\n  Binnacle is serving at ${url}\n  API:      ${url}/api/v1\n  Docs:     ${url}/docs\n${signIn}  Stop:     Ctrl-C\n\n`;
}
