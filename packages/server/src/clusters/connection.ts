export const OPERATOR_NAMESPACE = "binnacle-system";

/** The operator's image where it is not the chart's default. */
export interface OperatorImage {
  /** Null is the control plane itself. */
  readonly registry: string | null;
  /** Null where the control plane has no images, so that only a tag can be named. */
  readonly digest: string | null;
}

/** A Helm chart in one version, with the image that its release runs. */
interface PinnedChart {
  readonly name: string;
  readonly version: string;
  readonly fileName: string;
  readonly image: OperatorImage | null;
}

/** Returns the address of the control plane. Without a configured one it is known when the server listens. */
export type PublicUrl = () => string;

/** The hub is reached at the address of the control plane, with `wss` instead of `https`. */
export const hubUrl = (publicUrl: string) => `${publicUrl.replace(/^http/, "ws")}/hub/v1`;

const repository = (publicUrl: string) => `${publicUrl}/charts`;
export const chartRef = (publicUrl: string, { fileName }: PinnedChart) => `${repository(publicUrl)}/${fileName}`;
export const docsUrl = (publicUrl: string) => `${repository(publicUrl)}/README.md`;

/**
 * Returns the chart's values `image.*`. The node pulls the image, so the registry is named as nodes see it: by the public address of the
 * control plane. A registry is always at the root of its host, so a control plane below a path is not named as one.
 */
export function imageValues(publicUrl: string, image: OperatorImage | null): { registry?: string; digest?: string } {
  if (!image) return {};
  const registry = image.registry ?? registryAt(new URL(publicUrl));
  if (registry === null) return {};
  return { registry, ...(image.digest ? { digest: image.digest } : {}) };
}

/**
 * Whether a new machine is told where the operator's image is. The name that the chart has by default is in no registry that is known to
 * belong to Binnacle, so its operator would never start.
 */
export const hasOperatorImage = (publicUrl: string, image: OperatorImage | null): boolean =>
  imageValues(publicUrl, image).registry !== undefined;

/** Runtimes take the first part of a reference for a host only where it has a dot or a port, or is localhost. */
function registryAt({ protocol, host, pathname }: URL): string | null {
  if (pathname !== "/") return null;
  if (/[.:]/.test(host) || host === "localhost") return host;
  return `${host}:${protocol === "https:" ? 443 : 80}`;
}

/** Returns the reference under which nodes pull the operator's image, as the chart makes it from these values. */
export function imageReference(publicUrl: string, { version, image }: PinnedChart): string {
  const { registry, digest } = imageValues(publicUrl, image);
  return `${registry ? `${registry}/` : ""}binnacle/operator${digest ? `@${digest}` : `:${version}`}`;
}

/** Returns a command that works in any shell. Everybody who can read it can connect as the cluster. */
export function installCommand(publicUrl: string, chart: PinnedChart, clusterId: string, token: string): string {
  const { registry, digest } = imageValues(publicUrl, chart.image);
  const values = {
    "hub.url": hubUrl(publicUrl),
    "cluster.id": clusterId,
    "cluster.token": token,
    ...(registry ? { "image.registry": registry } : {}),
    ...(digest ? { "image.digest": digest } : {}),
  };
  return [
    `helm upgrade --install ${chart.name} ${chart.name}`,
    `--repo ${quoted(repository(publicUrl))} --version ${chart.version}`,
    `--namespace ${OPERATOR_NAMESPACE} --create-namespace`,
    ...Object.entries(values).map(([name, value]) => `--set-string ${quoted(`${name}=${helmValue(value)}`)}`),
  ].join(" ");
}

/**
 * Returns the command for an operator that is not upgraded from here. The release keeps its values, the registry among them; values that
 * are new in the chart get their defaults.
 */
export function upgradeCommand(publicUrl: string, chart: PinnedChart): string {
  return [
    `helm upgrade ${chart.name} ${chart.name}`,
    `--repo ${quoted(repository(publicUrl))} --version ${chart.version}`,
    `--namespace ${OPERATOR_NAMESPACE} --reset-then-reuse-values`,
    `--set-string image.tag=${chart.version} --set-string image.digest=${chart.image?.digest ?? ""}`,
  ].join(" ");
}

/** Helm reads a comma as the end of a value. */
const helmValue = (value: string) => value.replace(/[\\,]/g, "\\$&");

const quoted = (word: string) => (/^[\w@%+=:./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
