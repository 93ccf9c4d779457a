/** Why a node does not have an image, in one word. */
type PullCause =
  | "platform"
  | "plain_http"
  | "untrusted"
  | "expired"
  | "wrong_name"
  | "unresolved"
  | "proxy"
  | "refused"
  | "timeout"
  | "busy"
  | "denied"
  | "short_name"
  | "missing"
  | "no_space"
  | "unknown";

export interface PullProblem {
  readonly cause: PullCause;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to do, each of them enough. */
  readonly ways: readonly string[];
}

interface Rule {
  readonly cause: PullCause;
  readonly pattern: RegExp;
  message(registry: string): string;
  /** What to do where the image stays where it is. */
  remedy(registry: string): string;
}

/**
 * What containerd and CRI-O say, the most certain first: some messages name the failed lookup of a mirror, or end with "not found"
 * whatever was not found. Digests have digits, so that a status counts only with its words.
 */
const RULES: readonly Rule[] = [
  {
    cause: "platform",
    pattern: /no match for platform|no image found in (?:image index|manifest list)|exec format error/,
    message: () => "The image is not for the processor of this node.",
    remedy: () => "Build the images without --platform, so that they have linux/amd64 and linux/arm64.",
  },
  {
    cause: "plain_http",
    pattern: /server gave HTTP response to HTTPS client/,
    message: (registry) => `${registry} speaks plain HTTP, and the node insists on TLS.`,
    remedy: (registry) =>
      `Give ${registry} a certificate, or allow plain HTTP for it on each node (containerd: hosts.toml).`,
  },
  {
    cause: "expired",
    pattern: /certificate has expired or is not yet valid/,
    message: (registry) => `The certificate of ${registry} is not valid now, by the clock of the node.`,
    remedy: () => "Renew the certificate, or correct the clock of the node.",
  },
  {
    cause: "wrong_name",
    pattern: /certificate is valid for|doesn't contain any IP SANs|certificate is not valid for any names/,
    message: (registry) => `The certificate of ${registry} is for another name.`,
    remedy: (registry) => `Give it a certificate for ${registry}, or name the registry as its certificate does.`,
  },
  {
    cause: "untrusted",
    pattern: /x509:|certificate signed by unknown authority|certificate verify failed/,
    message: (registry) => `The node does not trust the certificate of ${registry}.`,
    remedy: () =>
      "Add the certificate of your authority to the trust store of each node, and restart its container runtime.",
  },
  {
    cause: "proxy",
    pattern: /proxyconnect tcp/,
    message: (registry) => `The node goes through a proxy to ${registry}, and the proxy does not answer.`,
    remedy: (registry) => `Add ${registry} to NO_PROXY of the node's container runtime, or repair the proxy.`,
  },
  {
    cause: "unresolved",
    pattern: /no such host|server misbehaving|name resolution|dial tcp: lookup/,
    message: (registry) => `The name of ${registry} does not resolve on the node.`,
    remedy: (registry) =>
      `Make the DNS that the nodes use resolve ${registry}. DNS inside of the cluster does not count: the node pulls, not the pod.`,
  },
  {
    cause: "refused",
    pattern: /connection refused/,
    message: (registry) => `Nothing answers at ${registry}.`,
    remedy: (registry) => `Check that ${registry} is the right address and port, and that it runs.`,
  },
  {
    cause: "timeout",
    pattern: /timeout|deadline exceeded|no route to host|network is unreachable|connection reset|\bEOF\b/i,
    message: (registry) => `The node does not reach ${registry}.`,
    remedy: (registry) =>
      `Allow the nodes to reach ${registry}: firewalls, security groups, routes, the proxy of the node.`,
  },
  {
    cause: "busy",
    pattern: /429 Too Many Requests|toomanyrequests/i,
    message: (registry) => `${registry} answers too many others now.`,
    remedy: () => "Try again in a minute; nodes repeat it by themselves.",
  },
  {
    cause: "short_name",
    pattern: /short[- ]name/,
    message: () => "The image has no registry in its name, and the node does not guess one.",
    remedy: () =>
      "Set BINNACLE_IMAGES_DIR or BINNACLE_IMAGE_REGISTRY for the control plane, and print the install command again.",
  },
  {
    cause: "denied",
    pattern: /401 Unauthorized|403 Forbidden|unauthorized|denied|authentication required|insufficient_scope/i,
    message: (registry) => `${registry} does not give the image without credentials, or does not have it.`,
    remedy: () =>
      "Make a pull secret in the namespace of the operator, and name it by the value imagePullSecrets of its chart.",
  },
  {
    cause: "no_space",
    pattern: /no space left on device/,
    message: () => "The disk of the node is full.",
    remedy: () => "Free space on the node.",
  },
  {
    cause: "missing",
    pattern: /not found|manifest unknown|name unknown|404 Not Found/i,
    message: (registry) => `${registry} does not have this image.`,
    remedy: (registry) =>
      registry === DEFAULT_REGISTRY
        ? "The control plane has no images: set BINNACLE_IMAGES_DIR or BINNACLE_IMAGE_REGISTRY, and print the install command again."
        : "Push this release to it with npx binnacle-server images push, from a checkout, or give the control plane the images of its own release.",
  },
];

/** Where runtimes look for a name without a registry. */
const DEFAULT_REGISTRY = "docker.io";

/** Problems that another registry or an import on the nodes does not solve. */
const OF_THE_NODE = new Set<PullCause>(["platform", "no_space", "busy"]);

/** Says in plain words why a node could not pull, from the message of its container runtime. */
export function pullProblem(image: string, said: string): PullProblem {
  const registry = registryOf(image);
  // With its path, as `images push` and `images export` take it.
  const mirror = image.replace(/\/?binnacle\/operator[@:].*$/, "") || registry;
  const rule = RULES.find(({ pattern }) => pattern.test(said));
  if (rule && OF_THE_NODE.has(rule.cause))
    return { cause: rule.cause, message: rule.message(registry), ways: [rule.remedy(registry)] };
  return {
    cause: rule?.cause ?? "unknown",
    message: rule?.message(registry) ?? "The node could not pull the image.",
    ways: [
      ...(rule ? [rule.remedy(registry)] : []),
      "Use a registry that the nodes reach and trust: fill it from a checkout with BINNACLE_IMAGES_DIR=<folder> npx binnacle-server images push <registry>, and add --set-string image.registry=<registry> to the install command, or set BINNACLE_IMAGE_REGISTRY for all clusters.",
      `Bring the image to each node, from a checkout: BINNACLE_IMAGES_DIR=<folder> npx binnacle-server images export operator --registry ${mirror} | ctr --namespace k8s.io images import -`,
    ],
  };
}

/** Only a first part with a dot or a port, or localhost, is one. */
function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  return rest.length > 0 && (/[.:]/.test(first) || first === "localhost") ? first : DEFAULT_REGISTRY;
}
