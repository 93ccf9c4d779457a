import {
  AddressRefused,
  ArchiveProblem,
  ChartUnknown,
  ChartUnusable,
  repositoryHost,
  Unreachable,
} from "@binnacle/charts";
import { type ChartRef, safeText } from "@binnacle/contract";

/**
 * Why a chart could not be downloaded, for people; null for what is no failure of the download. The words are ours, with
 * nothing of the repository but the host that the user has named: a phase message is no window into a network.
 */
export function downloadFailure(error: unknown, { repo, name, version }: ChartRef): string | null {
  const [host, chart] = [repositoryHost(repo), `${name}${version === undefined ? "" : ` of version ${version}`}`];
  const said = sentence(error, host, chart);
  return said === null ? null : safeText(said);
}

function sentence(error: unknown, host: string, chart: string): string | null {
  if (error instanceof Unreachable) return `The chart repository ${host} cannot be read.`;
  if (error instanceof AddressRefused) {
    return `The chart repository ${host} is refused: ${lowerFirst(error.message)}. The operator goes to public addresses, and to hosts that BINNACLE_CHART_HOSTS names.`;
  }
  if (error instanceof ChartUnknown) {
    return `The chart repository ${host} has no chart ${chart}, or does not give it to this organization.`;
  }
  if (error instanceof ChartUnusable || error instanceof ArchiveProblem) {
    return `The chart repository ${host} has no usable chart ${chart}: ${error.message}.`;
  }
  return null;
}

const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);
