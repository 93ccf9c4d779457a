import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The environment of a process that a test starts: nothing of the developer's own settings. Processes of a run share what
 * Node has compiled of the sources, which is a quarter of the work of a start.
 */
export const childEnvironment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "",
  NODE_COMPILE_CACHE: join(tmpdir(), "compiled"),
});
