import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A signature for one purpose is none for another. */
const NAMESPACE = "binnacle-release";

/** Writes `<file>.sig`. ssh-keygen asks for the key's passphrase on the terminal, or leaves it to the agent. */
export async function signFile(file: string, key: string): Promise<void> {
  await promisify(execFile)("ssh-keygen", ["-Y", "sign", "-q", "-f", key, "-n", NAMESPACE, file]).catch((error) => {
    throw new Error(`ssh-keygen cannot sign with ${key}: ${String(error.stderr || error.message).trim()}`);
  });
}
