#!/usr/bin/env node
import { exitOnOldNode, fail } from "@binnacle/process";

/**
 * `binnacle-server [command]` is the program of the image, and `npx binnacle-server` that of a checkout. Without a command it serves; the others work on the same configuration and
 * database, and end.
 */

exitOnOldNode("Binnacle");

type Run = (args: readonly string[]) => Promise<unknown>;

const COMMANDS: Readonly<Record<string, { readonly about: string; readonly run: Run }>> = {
  serve: { about: "run the control plane (the default)", run: () => import("./main.ts") },
  backup: {
    about: "write a backup: binnacle-server backup <file | - | s3://bucket/key> [--keep <number>]",
    run: async (args) => (await import("./backup/backup.command.ts")).runBackup(args),
  },
  restore: {
    about: "restore one into an empty installation: binnacle-server restore <file | - | s3://bucket/key>",
    run: async (args) => (await import("./backup/backup.command.ts")).runRestore(args),
  },
  images: {
    about: "list, export or push the images of BINNACLE_IMAGES_DIR",
    run: async (args) => (await import("./images/images.command.ts")).runImages(args),
  },
  "support-bundle": {
    about: "collect what helps to find a fault, without secrets: binnacle-server support-bundle [file] [--log <file>]",
    run: async (args) => (await import("./support/support-bundle.command.ts")).runSupportBundle(args),
  },
  password: {
    about: "set a password from the standard input: binnacle-server password <username>",
    run: async (args) => (await import("./accounts/password.command.ts")).runPassword(args),
  },
  "upgrade-check": {
    about: "say what the start of this release does to the database, and what to mind before; it changes nothing",
    run: async () => (await import("./upgrade/upgrade-check.command.ts")).runUpgradeCheck(),
  },
  gitops: {
    about: "compare the Git repositories of clusters with the database: binnacle-server gitops verify",
    run: async (args) => (await import("./gitops/verify.command.ts")).runGitops(args),
  },
  reseal: {
    about: "seal stored secrets with the first of BINNACLE_VAULT_KEYS",
    run: async () => (await import("./vault/reseal.command.ts")).runReseal(),
  },
};

const [name = "serve", ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (["help", "--help", "-h"].includes(name)) process.stdout.write(help());
else if (!command) fail(`There is no command ${JSON.stringify(name)}.\n\n${help()}`);
else await command.run(args).catch((error: Error) => fail(error.message));

function help(): string {
  const lines = Object.entries(COMMANDS).map(([command, { about }]) => `  ${command.padEnd(16)}${about}`);
  return `binnacle-server <command>\n\n${lines.join("\n")}\n`;
}
