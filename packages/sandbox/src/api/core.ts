import type { ObjectTable } from "../store/object-table.ts";
import type { Clock } from "./ports.ts";
import type { Registry } from "./registry.ts";

/** Chance, so that tests may leave nothing to it. */
export interface Chance {
  uid(): string;
  /** Five letters and digits, for names that the server makes up. */
  suffix(): string;
}

/** What every operation of the API works on. */
export interface Core {
  readonly table: ObjectTable;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** To the second, as Kubernetes writes times. */
export const timestamp = ({ clock }: Pick<Core, "clock">): string =>
  `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`;

/** How somebody writes. */
export interface WriteContext {
  readonly manager: string;
  readonly dryRun: boolean;
  readonly subresource: string;
  /** Told each field that the server does not know. */
  readonly onUnknown?: (path: string) => void;
}
