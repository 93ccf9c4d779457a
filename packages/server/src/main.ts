import { CatalogProblems } from "./catalog/catalog.adapter.ts";
import { type Config, ConfigProblems, LOCAL_ADMIN, listeningPort, parseConfig } from "./config.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { DataDirectoryInUse } from "./database/embedded/data-directory-in-use.ts";
import { createLog } from "./log.adapter.ts";
import { releaseStartupMemory } from "./startup-memory.adapter.ts";

const ECHO_MS = 1_000;

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 24) fail(`Binnacle needs Node.js 24 or newer; this is ${process.versions.node}.`);

const config = readConfig();
const log = createLog(config.logLevel);
let stoppingSince: number | null = null;
const controlPlane = await start();
releaseStartupMemory();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
if (config.environment === "local") process.stdout.write(welcome(controlPlane.url));

function readConfig(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigProblems) fail(error.message);
    throw error;
  }
}

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
    if (error instanceof DataDirectoryInUse || error instanceof CatalogProblems) fail(message);
    const { port, variable } = listeningPort(config);
    if (code === "EADDRINUSE") fail(`Port ${port} is taken. Choose another with ${variable}.`);
    log.fatal({ err: error }, "the start failed");
    process.exit(1);
  }
}

async function stop(signal: string): Promise<void> {
  if (stoppingSince !== null) {
    // A person who does not want to wait; at once it is npm, which passes on the Ctrl-C that we have had already.
    if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
    return;
  }
  stoppingSince = performance.now();
  log.info({ signal }, "stopping");
  await controlPlane.stop();
  log.info("stopped");
  process.exit(0);
}

function welcome(url: string): string {
  const usesSeed = config.adminEmail === null && config.secrets.adminPassword === null;
  const signIn = usesSeed ? `  Sign in:  ${LOCAL_ADMIN.username} / ${LOCAL_ADMIN.password}\n` : "";
  return `\n  Binnacle is serving at ${url}\n  API:      ${url}/api/v1\n  Docs:     ${url}/docs\n${signIn}  Stop:     Ctrl-C\n\n`;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
