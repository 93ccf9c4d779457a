import { type Command, local } from "../command.ts";
import { CliError, EXIT } from "../host.ts";
import { column, view } from "../output.ts";
import { changeState } from "../state.ts";

interface Alias {
  readonly name: string;
  readonly expansion: string;
}
const ALIAS = view<Alias>("name", column("NAME", "name"), column("STANDS FOR", "expansion"));

export const ALIAS_COMMANDS: readonly Command[] = [
  local("alias list", "List your own names for commands", async (call) => {
    const rows = Object.entries(call.state.aliases ?? {}).map(([name, expansion]) => ({ name, expansion }));
    call.list(ALIAS, rows);
  }),
  local(
    "alias set <name> <expansion>",
    "Give the beginning of a command line a name of your own",
    async (call, { args }) => {
      const { name = "", expansion = "" } = args;
      if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new CliError(`"${name}" is not a name: use a-z, 0-9 and dashes.`);
      await changeState(call.host, (state) => ({ ...state, aliases: { ...state.aliases, [name]: expansion } }));
      call.info(`${name} stands for: ${expansion}. A command of that name goes before it.`);
    },
    { notes: "$1 in it is the first word after the alias; what is not used follows at the end." },
  ),
  local("alias delete <name>", "Forget a name", async (call, { args }) => {
    const { name = "" } = args;
    const { [name]: found, ...aliases } = call.state.aliases ?? {};
    if (found === undefined) throw new CliError(`There is no alias "${name}".`, EXIT.notFound, "binnacle alias list");
    await changeState(call.host, (state) => ({ ...state, aliases }));
    call.info(`Forgot ${name}.`);
  }),
];
