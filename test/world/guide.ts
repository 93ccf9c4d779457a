import { readFileSync } from "node:fs";

/** Reading the guides for tests that run what stands in them. */

export const readPage = (page: string): string => readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");

/** The texts of the blocks of a page in this language, without the indentation of a list. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^\\1\`\`\``, "gms"))].map(([, indent = "", block = ""]) =>
    indent ? block.replaceAll(new RegExp(`^${indent}`, "gm"), "") : block,
  );

/** Whether a command goes on in the next line: in a pipe, a loop or a text for a file. */
function isOpen(command: string): boolean {
  const end = /<<'(\w+)'/.exec(command)?.[1];
  if (end) return !command.endsWith(`\n${end}`);
  return command.startsWith("for ") ? !command.endsWith("\ndone") : command.endsWith("|");
}

/** The commands in the blocks of a page, each of which is one line unless it goes on in further ones. */
export function commandsOf(page: string, language = "sh"): string[] {
  const commands: string[] = [];
  for (const block of blocksOf(readPage(page), language)) {
    let open = "";
    for (const line of block
      .trimEnd()
      .replaceAll(/\\\n */g, "")
      .split("\n")) {
      open = open ? `${open}\n${line}` : line;
      if (open.trim() === "" || !isOpen(open)) {
        if (open.trim() !== "") commands.push(open);
        open = "";
      }
    }
    if (open) throw new Error(`A block of ${page} ends within a command: ${open}`);
  }
  return commands;
}

/** The only command of a page that begins like that. */
export function commandOf(page: string, start: string, language = "sh"): string {
  const [command, ...more] = new Set(commandsOf(page, language).filter((one) => one.startsWith(start)));
  if (command === undefined || more.length > 0)
    throw new Error(`${page} has not one command that begins with ${start}`);
  return command;
}
