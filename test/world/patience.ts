import { vi } from "vitest";

/** What tests wait for comes within milliseconds, but on a busy machine it may take seconds. */
const PATIENCE_MS = 15_000;

const { waitFor, waitUntil } = vi;
const patient = <T extends object>(options?: number | T) =>
  typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options };

// Vitest gives up after one second and has no setting for it. The files of a worker share `vi`, so it may be patient already.
if (waitFor.name !== "waitPatientlyFor") {
  vi.waitFor = function waitPatientlyFor(check, options) {
    return waitFor(check, patient(options));
  };
  vi.waitUntil = (check, options) => waitUntil(check, patient(options));
}
