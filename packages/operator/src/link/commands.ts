import type { HubFrames, LinkSettings } from "@binnacle/contract";

/** Carries out what the hub commands. */
export interface Commands {
  /** Look at everything again and report it. */
  resync(): void;
  /** What the organization has decided: at the start, and when it has changed. */
  settings(settings: LinkSettings): void;
  /** With what private chart repositories are read from now on, and with nothing else. */
  chartRepositories(repositories: HubFrames["chart_repositories"]["chart_repositories"]): void;
}
