import {
  type CheckedAccess,
  type CloudAccess,
  type CloudProvider,
  CloudRefusal,
  type ProvisioningFailure,
} from "../cloud/provider.ts";
import type { Log } from "../outage.ts";
import { masker } from "../provisioning/provisioning-run.ts";
import { secretsIn } from "./credential.ts";

const CHECK_WITHIN_MS = 30_000;

const TIMED_OUT: ProvisioningFailure = {
  code: "timed_out",
  message: "The provider did not answer within 30 seconds. Check that the control plane can reach it, and try again.",
};

/** Asks the cloud, and waits no longer than the deadline even if the call ignores its signal. */
export async function checkAccess(
  cloud: Pick<CloudProvider, "check">,
  access: CloudAccess,
  leaving: AbortSignal,
  log: Log,
  withinMs = CHECK_WITHIN_MS,
): Promise<CheckedAccess | ProvisioningFailure> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(withinMs)]);
  const late = Promise.withResolvers<ProvisioningFailure>();
  signal.addEventListener("abort", () => late.resolve(TIMED_OUT), { once: true });
  const asked = cloud.check(access, signal).catch((error: unknown): ProvisioningFailure => {
    if (error instanceof CloudRefusal) return error.failure;
    if (signal.aborted) return TIMED_OUT;
    // The message of an unexpected error may have the request in it, and with that the key.
    log.warn({ error: error instanceof Error ? error.name : typeof error }, "the check of a credential has failed");
    return { code: "failed", message: "The provider could not be asked. Try again in a moment." };
  });
  return masked(await Promise.race([asked, late.promise]), secretsIn(access));
}

/** Providers repeat parts of a request in their errors. A code is a word of ours, which clients compare. */
function masked<T>(found: T, secrets: readonly string[]): T {
  const mask = masker(secrets);
  const text = JSON.stringify(found, (key, value: unknown) =>
    typeof value === "string" && key !== "code" ? mask(value) : value,
  );
  return JSON.parse(text) as T;
}
