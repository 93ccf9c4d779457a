export { type ArchivedFile, archiveOf, unpackChart } from "./archive.ts";
export { challengeOf, tokenAddress, tokenIn } from "./challenge.ts";
export type { ChartReader } from "./chart-reading.ts";
export { type ChartAddress, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
export { isOlderVersion } from "./chart-version.ts";
export { basicAuthorization, canonicalRepositoryUrl, type RepositoryCredential } from "./credential.ts";
export {
  AddressRefused,
  createAddressCheck,
  createFetch,
  type Fetch,
  type Fetched,
  type FetchSettings,
  Unreachable,
} from "./fetch.adapter.ts";
export { helmChart } from "./helm-chart.ts";
export { ArchiveProblem, ReadingProblem } from "./problems.ts";
export { pullChart } from "./pull.adapter.ts";
export { createReaderPool, type Given, type Read } from "./reader-pool.adapter.ts";
export { repositoryHost, repositoryProblem } from "./repository-url.ts";
