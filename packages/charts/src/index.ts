export { type ArchivedFile, ArchiveProblem, archiveOf } from "./archive.ts";
export type { ChartReader } from "./chart-reading.ts";
export { type ChartAddress, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
export { isOlderVersion } from "./chart-version.ts";
export { canonicalRepositoryUrl, type RepositoryCredential } from "./credential.ts";
export { AddressRefused, createFetch, type Fetch, Unreachable } from "./fetch.adapter.ts";
export { helmChart } from "./helm-chart.ts";
export { pullChart } from "./pull.adapter.ts";
export { repositoryHost, repositoryProblem } from "./repository-url.ts";
