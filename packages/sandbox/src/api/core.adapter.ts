import { randomBytes, randomUUID } from "node:crypto";
import { ObjectTable, type ObjectTableOptions } from "../store/object-table.ts";
import { keepDefinitions } from "./definitions.ts";
import type { Chance, Clock, Core } from "./ports.ts";
import { ServedResources } from "./resource.ts";

export interface ClusterOptions extends ObjectTableOptions {
  readonly clock?: Clock;
  readonly chance?: Chance;
}

const REAL_CLOCK: Clock = { nowMs: () => Date.now() };

/** Without vowels, so that no words come of it. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

const REAL_CHANCE: Chance = {
  uid: randomUUID,
  suffix: () => [...randomBytes(5)].map((byte) => LETTERS[byte % LETTERS.length]).join(""),
};

/** The state of one cluster, without anybody who serves it or acts in it. */
export function createCore({ clock = REAL_CLOCK, chance = REAL_CHANCE, ...options }: ClusterOptions = {}): Core {
  const core: Core = { table: new ObjectTable(options), served: new ServedResources(), clock, chance };
  keepDefinitions(core);
  return core;
}
