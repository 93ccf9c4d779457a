import fc from "fast-check";

/**
 * Properties are tried with the same inputs in every run, so that no change is refused because of an input that has nothing to do with it.
 * `PROPERTY_SEED` tries others.
 */
fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 1) });
