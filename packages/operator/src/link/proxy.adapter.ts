import { request } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";

interface Target {
  readonly host?: string | null;
  readonly port?: string | number | null;
}

type Done = (error: Error | null, socket?: Duplex) => void;

/** How a WebSocket gets its connection: through an HTTP proxy, which sees nothing of it but where it goes. */
export function throughProxy(proxy: string, isSecure: boolean) {
  return (target: Target, done: Done): undefined => {
    const { hostname, port } = new URL(proxy);
    const host = target.host ?? "";
    const path = `${host.includes(":") ? `[${host}]` : host}:${target.port}`;
    const asked = request({
      method: "CONNECT",
      host: hostname,
      port: port || 80,
      path,
      headers: { host: path },
      agent: false,
    });
    asked.once("connect", ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        done(new Error(`the proxy ${proxy} answered with ${statusCode}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      // An address has no name that a certificate is asked for by.
      const servername = isIP(host) === 0 ? host : "";
      done(null, isSecure ? connect({ socket, host, servername }) : socket);
    });
    asked.once("error", ({ message }) => done(new Error(`the proxy ${proxy} cannot be reached: ${message}`)));
    asked.end();
  };
}
