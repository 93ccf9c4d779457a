import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import type { PeerTrust } from "../certificate-trust.adapter.ts";
import { makeCertificate, type TestCertificate } from "../http/certificate.fixture.ts";
import { acceptPeers, createPeerKey, dialPeer, type PeerServer } from "./peer.adapter.ts";

const HUB_ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const key = createPeerKey("the signing key of both processes", () => new Date());

let server: ReturnType<typeof createServer>;
let peers: PeerServer;
afterEach(() => {
  peers.close();
  server.close();
  server.closeAllConnections();
});

/** Resolves when the hub has echoed a message. */
async function talk(shown: TestCertificate, trust: PeerTrust): Promise<unknown> {
  server = createServer(shown).listen(0, "127.0.0.1");
  await once(server, "listening");
  peers = acceptPeers(server, {
    hubId: HUB_ID,
    key,
    log,
    onPeer: (peer) => ({ onMessage: (message) => peer.send(message as object), onClose: () => undefined }),
  });
  const echoed = Promise.withResolvers<unknown>();
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const peer = await dialPeer(
    { id: HUB_ID, url },
    { onMessage: echoed.resolve, onClose: () => undefined },
    { key, log, trust },
  );
  peer.send({ said: "something" });
  return echoed.promise;
}

const pem = ({ cert, key: ownKey }: TestCertificate) => ({ cert: Buffer.from(cert), key: Buffer.from(ownKey) });
const root = { ...makeCertificate({ names: ["root"], isAuthority: true }), name: "root" };
const PUBLIC = "binnacle.example.com";
const hub = makeCertificate({ names: [PUBLIC], issuer: root });
const sibling = makeCertificate({ names: [PUBLIC], issuer: root });
const stranger = makeCertificate({ names: [PUBLIC] });

test.each([
  ["has the same certificate", pem(hub)],
  ["has one of an issuer that is in its own file", { ...pem(sibling), cert: Buffer.from(sibling.cert + root.cert) }],
])(
  "[RQ4108] a process that %s reaches a hub over TLS by an address that the certificate does not name",
  async (_, own) => {
    const trust = { publicHost: PUBLIC, certificate: () => own };
    expect(await talk(hub, trust)).toEqual({ said: "something" });
  },
);

test.each([
  ["a certificate of nobody that it knows", stranger, PUBLIC, /self-signed/],
  ["a certificate for another name", hub, "other.example.com", /other\.example\.com/],
])("[RQ4108] a process sends no credential to a hub that shows %s", async (_, shown, publicHost, why) => {
  const isValid = vi.spyOn(key, "isValid");
  await expect(talk(shown, { publicHost, certificate: () => pem(hub) })).rejects.toThrow(why);
  expect(isValid).not.toHaveBeenCalled();
});
