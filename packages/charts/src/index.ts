export { ArchiveProblem, chartFiles } from "./chart-archive.ts";
export { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
export { newestFirst } from "./chart-version.ts";
export { canonicalRepositoryUrl, type RepositoryCredential } from "./credential.ts";
export { AddressRefused, createFetch, type Fetch, Unreachable } from "./fetch.adapter.ts";
export { pullChart } from "./pull.adapter.ts";
export { repositoryHost, repositoryProblem } from "./repository-url.ts";
export { readYamlApart, YamlProblem } from "./yaml-apart.adapter.ts";
