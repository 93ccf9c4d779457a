import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports from which systems take those of outgoing connections, and below the node ports of Kubernetes. */
const [LOWEST, BEYOND] = [10_000, 30_000];

/**
 * A port for a program that is started later, or again. One that the system chose itself (port 0) may be the local end of
 * somebody's connection by then.
 */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  const port = randomInt(LOWEST, BEYOND);
  const probe = createServer().listen(port, host);
  try {
    await once(probe, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return freePort(host);
    throw error;
  }
  probe.close();
  await once(probe, "close");
  return port;
}
