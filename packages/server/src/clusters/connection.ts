export const OPERATOR_NAMESPACE = "binnacle-system";

/** A Helm chart in one version. */
interface PinnedChart {
  readonly name: string;
  readonly version: string;
  readonly fileName: string;
}

/** Returns the address of the control plane. Without a configured one it is known when the server listens. */
export type PublicUrl = () => string;

/** The hub is reached at the address of the control plane, with `wss` instead of `https`. */
export const hubUrl = (publicUrl: string) => `${publicUrl.replace(/^http/, "ws")}/hub/v1`;

const repository = (publicUrl: string) => `${publicUrl}/charts`;
export const chartRef = (publicUrl: string, { fileName }: PinnedChart) => `${repository(publicUrl)}/${fileName}`;
export const docsUrl = (publicUrl: string) => `${repository(publicUrl)}/README.md`;

/** Returns a command that works in any shell. Everybody who can read it can connect as the cluster. */
export function installCommand(publicUrl: string, chart: PinnedChart, clusterId: string, token: string): string {
  const values = { "hub.url": hubUrl(publicUrl), "cluster.id": clusterId, "cluster.token": token };
  return [
    `helm upgrade --install ${chart.name} ${chart.name}`,
    `--repo ${quoted(repository(publicUrl))} --version ${chart.version}`,
    `--namespace ${OPERATOR_NAMESPACE} --create-namespace`,
    ...Object.entries(values).map(([name, value]) => `--set-string ${quoted(`${name}=${helmValue(value)}`)}`),
  ].join(" ");
}

/** Helm reads a comma as the end of a value. */
const helmValue = (value: string) => value.replace(/[\\,]/g, "\\$&");

const quoted = (word: string) => (/^[\w@%+=:./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
