import { expect, test } from "vitest";
import { pullProblem } from "./pull-problem.ts";

/** Its digest has the digits of a status, which must not count as one. */
const IMAGE = `binnacle.example.com/binnacle/operator@sha256:${"401404".repeat(10)}4290`;
const HEAD = `Head "https://binnacle.example.com/v2/binnacle/operator/manifests/sha256:${"401404".repeat(10)}4290"`;
const containerd = (words: string) =>
  `Failed to pull image "${IMAGE}": failed to pull and unpack image "${IMAGE}": failed to resolve reference "${IMAGE}": ${words}`;
const request = (words: string) => containerd(`failed to do request: ${HEAD}: ${words}`);
const crio = (words: string) =>
  `Failed to pull image "${IMAGE}": unable to pull image or OCI artifact: pull image err: initializing source docker://${IMAGE}: ${words}`;
const ping = (words: string) =>
  crio(`pinging container registry binnacle.example.com: Get "https://binnacle.example.com/v2/": ${words}`);

const UNTRUSTED = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
const NO_HOST = "dial tcp: lookup binnacle.example.com on 10.0.0.2:53: no such host";
const EXPIRED =
  "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-03-01T00:00:00Z is after 2026-02-01T00:00:00Z";
const OTHER_NAME =
  "tls: failed to verify certificate: x509: certificate is valid for ingress.local, not binnacle.example.com";
const HTTP = "http: server gave HTTP response to HTTPS client";

test.each([
  ["unresolved", request(NO_HOST)],
  ["unresolved", ping(NO_HOST)],
  [
    "unresolved",
    request("dial tcp: lookup binnacle.example.com on 10.0.0.2:53: read udp 10.0.0.7:4711->10.0.0.2:53: i/o timeout"),
  ],
  ["unresolved", request("dial tcp: lookup binnacle.example.com: Temporary failure in name resolution")],
  ["untrusted", request(UNTRUSTED)],
  ["untrusted", ping(UNTRUSTED)],
  ["expired", request(EXPIRED)],
  ["wrong_name", ping(OTHER_NAME)],
  [
    "wrong_name",
    request(
      "tls: failed to verify certificate: x509: cannot validate certificate for 10.0.0.9 because it doesn't contain any IP SANs",
    ),
  ],
  ["plain_http", request(HTTP)],
  ["plain_http", ping(HTTP)],
  ["proxy", request("proxyconnect tcp: dial tcp 10.0.0.3:3128: connect: connection refused")],
  ["refused", request("dial tcp 10.0.0.9:443: connect: connection refused")],
  ["refused", ping("dial tcp 10.0.0.9:443: connect: connection refused")],
  ["timeout", request("dial tcp 10.0.0.9:443: i/o timeout")],
  ["timeout", ping("dial tcp 10.0.0.9:443: connect: no route to host")],
  ["timeout", request("net/http: TLS handshake timeout")],
  ["timeout", "Failed to pull image: rpc error: code = DeadlineExceeded desc = context deadline exceeded"],
  ["timeout", request("EOF")],
  ["missing", containerd(`${IMAGE}: not found`)],
  ["missing", crio("reading manifest 0.1.0 in binnacle.example.com/binnacle/operator: manifest unknown")],
  [
    "missing",
    crio("reading manifest 0.1.0 in binnacle.example.com/binnacle/operator: name unknown: Its repositories are …"),
  ],
  ["missing", containerd(`unexpected status from HEAD request to https://binnacle.example.com/v2/: 404 Not Found`)],
  [
    "denied",
    containerd(
      "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://auth.example.com/token: 401 Unauthorized",
    ),
  ],
  [
    "denied",
    containerd(
      "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed",
    ),
  ],
  [
    "denied",
    crio("reading manifest 0.1.0 in binnacle.example.com/binnacle/operator: unauthorized: authentication required"),
  ],
  [
    "busy",
    containerd("unexpected status from HEAD request to https://binnacle.example.com/v2/: 429 Too Many Requests"),
  ],
  [
    "busy",
    crio(
      "reading manifest 0.1.0 in binnacle.example.com/binnacle/operator: toomanyrequests: Too many downloads of this address are waiting.",
    ),
  ],
  [
    "platform",
    `Failed to pull image "${IMAGE}": failed to pull and unpack image "${IMAGE}": no match for platform in manifest: not found`,
  ],
  [
    "platform",
    crio('choosing image instance: no image found in image index for architecture "s390x", variant "", OS "linux"'),
  ],
  [
    "no_space",
    `failed to pull and unpack image "${IMAGE}": failed to extract layer: write /var/lib/containerd/x: no space left on device`,
  ],
  [
    "short_name",
    'Failed to pull image "binnacle/operator:0.1.0": short-name "binnacle/operator:0.1.0" did not resolve to an alias and no unqualified-search registries are defined in "/etc/containers/registries.conf"',
  ],
  ["unknown", containerd("the moon is full")],
])("[BC4041] the cause %s is found in the node's words: %s", (cause, said) => {
  expect(pullProblem(IMAGE, said).cause).toBe(cause);
});

test("[BC4041] a problem is told with the registry that the node asked, and all ways out", () => {
  const { message, ways } = pullProblem(IMAGE, request(UNTRUSTED));
  expect(message).toBe("The node does not trust the certificate of binnacle.example.com.");
  expect(ways).toEqual([
    expect.stringContaining("trust store of each node"),
    expect.stringContaining("--set-string image.registry=<registry>"),
    expect.stringContaining(
      "images export operator --registry binnacle.example.com | ctr --namespace k8s.io images import -",
    ),
  ]);
});

test.each(["binnacle/operator:0.1.0", "operator"])(
  "[BC4041] the image %s has no registry, so that docker.io was asked",
  (image) => {
    const { message, ways } = pullProblem(image, "docker.io/binnacle/operator:0.1.0: not found");
    expect(message).toBe("docker.io does not have this image.");
    expect(ways[0]).toContain("The control plane has no images");
  },
);

test("[BC4041] an image in a folder of a registry is exported with the folder in its name", () => {
  const { ways } = pullProblem("r.example.com/mirror/binnacle/operator:0.1.0", "connection refused");
  expect(ways.at(-1)).toContain("--registry r.example.com/mirror |");
});

test("[BC4041] no other registry is proposed for a full disk", () => {
  expect(pullProblem(IMAGE, "no space left on device").ways).toEqual(["Free space on the node."]);
});
