import { registerHooks } from "node:module";
import { localProvider } from "./local-provider.ts";

/**
 * Loaded before the server in a process of its own, which then makes clusters in the folder of LOCAL_FOLDER: this module takes
 * the place of the provider of AWS. Everything else is the server as it ships.
 */
export const awsProvider = () =>
  localProvider({
    folder: process.env["LOCAL_FOLDER"] ?? "",
    seconds: Number(process.env["LOCAL_SECONDS"] ?? 0.05),
  });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith("/aws/aws.adapter.ts")
      ? { url: import.meta.url, format: "module-typescript", shortCircuit: true }
      : next(specifier, context),
});
