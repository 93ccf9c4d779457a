import { X509Certificate } from "node:crypto";
import { BlockList, isIP, isIPv4 } from "node:net";
import type { Egress } from "@binnacle/contract";
import { KUBERNETES, type KubernetesRelease } from "../cloud/kubernetes-release.ts";
import { type Fault, invalidValue } from "../fault.ts";

/** A certificate that cannot be read is otherwise found when the first machine has been paid for. */
export function egressProblem(egress: Egress | undefined): Fault | null {
  const certificates = egress?.ca_certificates?.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? [];
  const broken = certificates.findIndex((text) => !isCertificate(text));
  if (broken === -1) return null;
  const msg = `Certificate ${broken + 1} of ${certificates.length} cannot be read`;
  return invalidValue(["body", "egress", "ca_certificates"], msg);
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== null;
  } catch {
    return false;
  }
}

/** What a new cluster gets. The checksums of images go with the release: an upgrade leads to one whose images have others. */
export function firstRelease(egress: Egress | null): KubernetesRelease {
  const images = egress?.k3s_images_sha256;
  return images ? { ...KUBERNETES, images } : KUBERNETES;
}

/** The content of `registries.yaml` of k3s. A registry that is named twice has the endpoints of both. */
export function registriesOf({ registry_mirrors = [] }: Egress) {
  if (registry_mirrors.length === 0) return null;
  const byRegistry = Map.groupBy(registry_mirrors, ({ registry }) => registry);
  const mirrors = [...byRegistry].map(([registry, named]) => [
    registry,
    { endpoint: named.flatMap(({ endpoints }) => endpoints) },
  ]);
  return { mirrors: Object.fromEntries(mirrors) };
}

/** The proxy on the way to the hub, or null where the hub is among the exceptions. */
export function hubProxyOf({ proxy, no_proxy = [] }: Egress, hubUrl: string): string | null {
  if (proxy === undefined) return null;
  const { protocol, hostname, port } = new URL(hubUrl);
  const hub = { host: hostname.toLowerCase(), port: port || (protocol === "wss:" ? "443" : "80") };
  return no_proxy.some((exception) => covers(exception.toLowerCase(), hub)) ? null : proxy;
}

/** As curl reads an exception, with which the machine has reached the same host before: a domain covers itself and the names below it. */
function covers(exception: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  const [range = "", bits] = exception.split("/");
  if (bits !== undefined) return isIPv4(range) && isIPv4(host) && Number(bits) <= 32 && isInRange(host, range, bits);
  const [name = "", onlyPort = port] = range.replace(/^\./, "").split(":");
  if (onlyPort !== port) return false;
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function isInRange(address: string, range: string, bits: string): boolean {
  const list = new BlockList();
  list.addSubnet(range, Number(bits));
  return list.check(address);
}
