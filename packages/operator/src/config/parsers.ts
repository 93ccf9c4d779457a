import { HUB_PATH, UUID_PATTERN } from "@binnacle/contract";
import { plainUrl } from "@binnacle/process";

/** The control plane's address alone stands for its hub. */
export function hubUrl(text: string): string {
  const url = plainUrl("ws:", "wss:")(text);
  return url.pathname === "/" ? `${url.origin}${HUB_PATH}` : url.href;
}

export const httpProxy = (text: string): string => plainUrl("http:")(text).origin;

export function clusterId(text: string): string {
  if (!UUID_PATTERN.test(text)) throw new Error("must be a UUID");
  return text.toLowerCase();
}

export function kubernetesName(text: string): string {
  if (text.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)) {
    throw new Error("must be a Kubernetes name: at most 63 lower-case letters, digits and hyphens");
  }
  return text;
}

/** The token is sent in a header, which allows no spaces or line ends. Files from which tokens are copied often end with one. */
export function token(text: string): string {
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new Error("must be a token: printable characters without blanks");
  return trimmed;
}

export function annotationName(text: string): string {
  if (text.length > 317 || !/^[a-z0-9.-]+\/[A-Za-z0-9][\w.-]*$/.test(text)) {
    throw new Error("must be the names of annotations, such as nginx.ingress.kubernetes.io/configuration-snippet");
  }
  return text;
}

/** Of objects that give rights, which may have any name that fits into a path. */
export function roleName(text: string): string {
  if (text.length > 253 || !/^[\w:.-]+$/.test(text)) {
    throw new Error("must be the name of a ClusterRole: letters, digits, hyphens, dots and colons");
  }
  return text;
}
