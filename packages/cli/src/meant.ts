import { nearest } from "@binnacle/client";
import type { Command } from "./command.ts";
import { followersOf, hasPath, optionNames, pathOf } from "./completion.ts";

/** Commands that a person may have meant by a word that there is not at its place: from the same level first, and then from all. */
function commandsMeant(commands: readonly Command[], path: readonly string[], unknown: string): string[] {
  const siblings = nearest(unknown, followersOf(commands, path));
  if (siblings.length > 0) return siblings;
  const paths = commands.map(pathOf);
  const named = (words: readonly string[]) =>
    paths.filter((whole) => words.includes(whole.at(-1) ?? "")).map((whole) => whole.join(" "));
  const same = named([unknown]);
  const verbs = paths.map((whole) => whole.at(-1) ?? "");
  return (same.length > 0 ? same : named(nearest(unknown, verbs))).slice(0, 4);
}

/** What is said of a mistake in the command line, with what was meant. */
export function usageError(text: string, commands: readonly Command[], argv: readonly string[]): string {
  const unknown = /^error: unknown (command|option) '(.*)'/.exec(text);
  const [, kind, word = ""] = unknown ?? [];
  const path: string[] = [];
  for (const next of argv) if (hasPath(commands, [...path, next])) path.push(next);
  if (kind === "command") return withFix(`error: unknown command '${word}'`, commandsMeant(commands, path, word));
  if (kind === "option") {
    const known = optionNames(commands, path);
    const longer = known.filter((name) => name.startsWith(`${word}-`));
    return withFix(`error: unknown option '${word}'`, longer.length > 0 ? longer : nearest(word, known));
  }
  return text;
}

function withFix(line: string, meant: readonly string[]): string {
  const list = meant.length > 1 ? `one of ${meant.join(", ")}` : meant[0];
  return meant.length > 0 ? `${line}\nfix: did you mean ${list}?\n` : `${line}\n`;
}
