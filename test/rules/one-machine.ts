import { blocksOf, readPage } from "../world/guide.ts";

/** What the guide for one machine writes into files, with secrets filled in. */

export type Variables = Readonly<Record<string, string>>;

export const PAGE = "docs/install/one-machine.md";
export const GUIDE = readPage(PAGE);

const SECRETS: Variables = {
  BINNACLE_SECRET_KEY: "pm3IuBvOZQ7aQ1dY4sXcK8rT0nWfL6hEjGzM2kVbN9yA5uSx",
  BINNACLE_VAULT_KEYS: `k1:${Buffer.from("f27Qm0c9LrX4vTz81KpWbJ6sYhN3dGeA").toString("base64")}`,
  BINNACLE_ADMIN_PASSWORD: "correct horse battery",
};

/** The variables of each block of a guide in this language. */
export const variablesOf = (text: string, language: string): Variables[] =>
  blocksOf(text, language).map((block) =>
    Object.fromEntries(
      block
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s))
        .map(([name = "", value = ""]) => [name, SECRETS[name] ?? value.replace("…", "password")]),
    ),
  );

export const [SYSTEMD = {}] = variablesOf(GUIDE, "ini");
export const [COMPOSE = {}, SYSTEMD_TLS = {}, COMPOSE_TLS = {}] = variablesOf(GUIDE, "properties");
