import Type from "typebox";
import { codedConflictBody } from "../errors.ts";
import { EXEC_BEARER_PREFIX, EXEC_SUBPROTOCOL, TerminalSize } from "../link/exec.ts";
import { operation } from "../operation.ts";
import { appParams, appQuery } from "./apps.ts";

const { cols, rows } = TerminalSize.properties;
const ObjectName = (example: string, description: string) =>
  Type.String({ maxLength: 253, pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", description, examples: [example] });

export const execComponent = operation({
  id: "execComponent",
  method: "GET",
  path: "/apps/{namespace}/{name}/components/{component}/exec",
  tag: "Apps",
  summary: "Run a command in a container of a component, over a WebSocket; project editor",
  description: `Connect with the WebSocket subprotocol \`${EXEC_SUBPROTOCOL}\`. Where a header cannot be set, as in a browser, offer the token as a second subprotocol \`${EXEC_BEARER_PREFIX}<token>\`; it is never selected. A CLI token needs the scope \`write\`.

Every frame is binary, its first byte is the channel, the rest at most 32 KiB of content:

- 0, to the server: bytes of input; without content the end of the input.
- 1 and 2, from the server: output and error output. With \`tty\` everything comes as output.
- 3, from the server, once and last: JSON, \`{"exit_code": 3}\` or \`{"error": "…"}\`.
- 4, to the server: JSON, \`{"cols": 80, "rows": 24}\`, another size of the terminal.

A client that does not read stops the output at its source, and input that the command does not read is not taken from the client. The close frame says why a session has ended: 1000 the command has ended, 1001 the server stops, 4400 a frame is not as above (1009 where it is too large), 4401 the token has ended, 4403 you may no longer do this, 4404 the app or component is gone, 4408 neither input nor output for 15 minutes, 4409 switched off for the cluster, 4410 open for 8 hours, 4502 the command could not be run, 4503 the connection of the operator was lost.

Without a WebSocket handshake the request is checked in the same way, and is a 426 where nothing else is wrong. A user may have 10 sessions open on a server, and a cluster 32; one more is a 429. Without an operator that is connected: 503. A page of another origin than the server and those in \`BINNACLE_CORS_ORIGINS\`: 403.`,
  credentials: "user",
  params: Type.Object({ ...appParams, component: Type.String({ maxLength: 253, examples: ["web"] }) }),
  query: Type.Object({
    ...appQuery,
    pod: Type.Optional(
      ObjectName("storefront-web-7d9c5b6f4-x2x5p", "One of the component's pods; without it, one that runs."),
    ),
    container: Type.Optional(
      ObjectName("web", "Without it, the first of the pod, or the one that the pod names for it."),
    ),
    command: Type.Array(Type.String({ maxLength: 8_192 }), {
      minItems: 1,
      maxItems: 100,
      default: ["/bin/sh"],
      description: "Given once for each word; only the first may not be empty. It is in the audit log.",
      examples: [["/bin/sh"]],
    }),
    tty: Type.Boolean({ default: true, description: "With a terminal." }),
    cols: { ...cols, default: 80 },
    rows: { ...rows, default: 24 },
  }),
  success: [101, null],
  upgrade: EXEC_SUBPROTOCOL,
  failures: [404, 426, 429, 502, 504],
  failureBodies: codedConflictBody,
});
