import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { SimulatedCommand } from "../../kubelet/shell.ts";

const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const LARGEST_FRAME_BYTES = 1024 * 1024;
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: LARGEST_FRAME_BYTES,
  handleProtocols: (offered) => PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
});

/** Speaks to a command as an API server does. */
export function runCommand(command: SimulatedCommand, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  sockets.handleUpgrade(incoming, socket, head, (peer) => {
    const send = (channel: number, text: string) => peer.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
    const { input, end, resize } = command({
      write: (channel, text) => send(CHANNEL[channel], text),
      exit(code) {
        send(CHANNEL.error, JSON.stringify(statusOf(code)));
        peer.close(1000);
      },
    });
    peer.on("error", () => peer.terminate());
    peer.on("message", (data: Buffer) => {
      const content = data.subarray(1);
      if (data[0] === CHANNEL.stdin) input(content.toString("utf8"));
      else if (data[0] === CHANNEL.close && content[0] === CHANNEL.stdin) end();
      else if (data[0] === CHANNEL.resize) {
        const { Width, Height } = sizeIn(content.toString("utf8"));
        if (Width && Height) resize(Width, Height);
      }
    });
  });
}

const statusOf = (code: number) =>
  code === 0
    ? { metadata: {}, status: "Success" }
    : {
        metadata: {},
        status: "Failure",
        message: `command terminated with non-zero exit code: ${code}`,
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: String(code) }] },
      };

function sizeIn(text: string): { readonly Width?: number; readonly Height?: number } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
