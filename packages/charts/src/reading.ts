/** Of this package, what threads read with: without the network, so that a thread starts fast. */
export { ArchiveProblem, chartFiles, LARGEST_FILE_BYTES } from "./archive.ts";
export {
  type ChartChoice,
  chooseVersion,
  type IndexAnswer,
  type IndexQuestion,
  readIndex,
  type VersionQuestion,
} from "./chart-reading.ts";
export { IndexProblem } from "./helm-index.ts";
export { isDeeperThan, isSteep, jsonSize, marksIn } from "./text-size.ts";
