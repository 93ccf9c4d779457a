import { isIP } from "node:net";
import { isAllowedHost, isPublicAddress } from "./address.ts";

/** A registry on this machine is spoken to without TLS, as container tools do. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+)(:\d+)?$/;
const LOCAL_NAME = /(^|\.)localhost\.?$/;

/**
 * Where a chart repository is reached on the web: one of OCI by HTTPS. Null for what is not an address of a repository. It is
 * parsed as an address of the web in every case, because a URL of another scheme keeps its host as it was written:
 * `oci://0x7f.1` would not be recognized as 127.0.0.1.
 */
export function webAddressOf(repo: string): URL | null {
  const [, scheme = "", rest = ""] = /^(https?|oci):\/\/(.*)$/is.exec(repo) ?? [];
  const url = URL.parse(`${scheme.toLowerCase() === "oci" ? "https" : scheme}://${rest}`);
  if (!url?.hostname) return null;
  if (isOci(repo) && LOOPBACK.test(url.host)) url.protocol = "http:";
  return url;
}

export const isOci = (repo: string): boolean => /^oci:\/\//i.test(repo);

export const hostnameOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

/** Why an address of the web may not be gone to, as far as it shows without resolving its name; null where it may. */
export function addressProblem(url: URL, allowedHosts: readonly string[]): string | null {
  if (isAllowedHost(allowedHosts, url)) return null;
  const hostname = hostnameOf(url);
  const isHidden = isIP(hostname) ? !isPublicAddress(hostname) : LOCAL_NAME.test(hostname);
  if (isHidden) return "The address is not a public one";
  if (url.protocol === "http:") return "The address must begin with https://: http:// is for hosts on the allow-list";
  return null;
}

/** What is wrong with the address of a chart repository, as far as it can be checked without a request; null for a valid one. */
export function repositoryProblem(repo: string, allowedHosts: readonly string[]): string | null {
  const url = webAddressOf(repo);
  if (!url) return "The address must begin with https:// or oci://";
  if (url.username || url.password) {
    return "The address must not hold a user name or a password: store them as a chart repository of the organization";
  }
  return addressProblem(url, allowedHosts);
}

/** The host that people are told about; never what a remote answered. */
export const repositoryHost = (repo: string): string => webAddressOf(repo)?.host ?? "of the chart";
