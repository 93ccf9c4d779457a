/** Of this package, what threads read with: without the network, so that a thread starts fast. */
export { chartFiles, LARGEST_FILE_BYTES } from "./archive.ts";
export { CHART_READINGS } from "./chart-reading.ts";
export { jsonSize } from "./json-size.ts";
export { ArchiveProblem, ReadingProblem } from "./problems.ts";
export { serveReadings } from "./serve-readings.worker.ts";
export { YamlProblem, yamlDocuments } from "./yaml.ts";
