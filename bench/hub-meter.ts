import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Counted {
  /** Of frames, both ways. */
  frameBytes: number;
  /** Of the HTTP request and its answer, with which a connection begins. */
  upgradeBytes: number;
}

/** A way to the hub that counts what goes over it. */
export interface Meter {
  readonly port: number;
  /** Returns the counts since the last call. */
  read(): Counted;
  cut(): void;
  stop(): Promise<void>;
}

const HEAD_END = "\r\n\r\n";

export async function startMeter(target: () => number): Promise<Meter> {
  let counted: Counted = { frameBytes: 0, upgradeBytes: 0 };
  const sockets = new Set<Socket>();

  function pass(from: Socket, to: Socket): void {
    let head: Buffer | null = Buffer.alloc(0);
    sockets.add(from);
    from.on("error", () => to.destroy());
    from.on("close", () => sockets.delete(from) && to.destroy());
    from.on("data", (bytes: Buffer) => {
      to.write(bytes);
      if (head === null) {
        counted.frameBytes += bytes.length;
        return;
      }
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      counted.upgradeBytes += end + HEAD_END.length;
      counted.frameBytes += head.length - end - HEAD_END.length;
      head = null;
    });
  }

  const server = createServer((near) => {
    const far = connect(target(), "127.0.0.1");
    pass(near, far);
    pass(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    read() {
      const before = counted;
      counted = { frameBytes: 0, upgradeBytes: 0 };
      return before;
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
