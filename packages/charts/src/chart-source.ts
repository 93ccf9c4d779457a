export interface ChartAddress {
  readonly repo: string;
  readonly name: string;
  /** The newest stable one where left out. */
  readonly version?: string | undefined;
}

/** One step of a path and no option, whatever somebody wrote. */
export const isChartName = (name: string): boolean => /^[A-Za-z0-9][\w.-]*$/.test(name);

/** One version of a chart, packed, and which others there are. */
export interface ChartSource {
  readonly version: string;
  readonly versions: readonly string[];
  readonly archive: Buffer;
  /** SHA-256, as the repository states it. */
  readonly digest: string | null;
}

/** The repository is there; such a chart, or such a version of it, is not. */
export class ChartUnknown extends Error {
  override readonly name = "ChartUnknown";
}

/** The repository answers, and there is no chart to be had of what it holds. The message is our own words for people. */
export class ChartUnusable extends Error {
  override readonly name = "ChartUnusable";
}
