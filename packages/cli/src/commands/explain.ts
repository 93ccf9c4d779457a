import { REASONS } from "@binnacle/client";
import type { Command } from "../command.ts";
import { CliError, EXIT, printable } from "../host.ts";
import { column, view } from "../output.ts";

interface Explanation {
  readonly reason: string;
  readonly meaning: string;
  readonly action: string;
}

const EXPLANATION = view<Explanation>(
  "reason",
  column("REASON", "reason"),
  column("MEANING", "meaning"),
  column("WHAT TO DO", "action"),
);

export const EXPLAIN_COMMAND: Command = {
  usage: "explain <reason>",
  about: "Say what a reason of an app, an addon or a project means, and what to do",
  fields: [{ from: "<reason>", help: "as in the column REASON, such as CrashLoopBackOff" }],
  operations: [],
  async run(call, { args }) {
    const asked = args["reason"] ?? "";
    const [found] = Object.entries(REASONS).filter(([known]) => known.toLowerCase() === asked.toLowerCase());
    if (!found) {
      throw new CliError(
        `This version of binnacle does not know the reason ${printable(asked)}: read the message beside it.`,
        EXIT.notFound,
      );
    }
    const [reason, explained] = found;
    call.show(EXPLANATION, { reason, ...explained });
    return undefined;
  },
};
