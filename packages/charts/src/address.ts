import { BlockList, isIP } from "node:net";

/**
 * Which addresses the server may be sent to by what a user wrote. From where it stands, it can reach what users cannot:
 * itself, its neighbours and the cloud's metadata, which hands out credentials. IANA's special-purpose registries say
 * which addresses are not public.
 */
const NOT_PUBLIC_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // The one public address that answers inside of a cloud only: Azure's metadata and DNS.
  "168.63.129.16/32",
] as const;

/**
 * In IPv6 only `2000::/3` is public, so that what maps or translates an IPv4 address (`::ffff:0:0/96`, `64:ff9b::/96`) is
 * out without being listed. These lie inside of it: tunnels that carry an IPv4 address, and documentation.
 */
const PUBLIC_V6 = "2000::/3";
const NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const;

const privateV4 = rangesOf(NOT_PUBLIC_V4, "ipv4");
const publicV6 = rangesOf([PUBLIC_V6], "ipv6");
const exceptV6 = rangesOf(NOT_PUBLIC_V6, "ipv6");

function rangesOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits] = range.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/** False for what is not an IP address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateV4.check(address, "ipv4");
    case 6:
      return publicV6.check(address, "ipv6") && !exceptV6.check(address, "ipv6");
    default:
      return false;
  }
}

/** `charts.internal` stands for every port of the host, `10.0.0.7:5000` for that one. */
export function isAllowedHost(allowed: readonly string[], url: URL): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = url.hostname.toLowerCase();
  return allowed.some((entry) => entry === host || entry === `${host}:${port}`);
}
