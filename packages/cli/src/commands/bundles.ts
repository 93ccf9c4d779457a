import type { BundleDiff, BundleSummary, PinChange } from "@binnacle/client";
import { arg, type Command, command, isTable, listing, send, verb } from "../command.ts";
import { column, view } from "../output.ts";

const BUNDLE = view<BundleSummary>(
  "version",
  column("VERSION", "version"),
  column("HA TIERS", "ha_tiers"),
  column("PROFILES", "profiles"),
);

interface Move {
  readonly part: string;
  readonly component: string;
  readonly from: string | number | boolean | null;
  readonly to: string | number | boolean | null;
  /** Why it cannot be undone. */
  readonly warning: string | null;
}

const MOVE = view<Move>(
  "component",
  column("PART", "part"),
  column("COMPONENT", "component"),
  column("FROM", "from"),
  column("TO", "to"),
  { title: "", of: ({ warning }) => (warning ? { text: `! irreversible: ${warning}`, tone: "bad" } : " ") },
);

/** Components that convert what they keep when they are upgraded, and cannot read it afterwards in an older version. */
const CONVERTS: Readonly<Record<string, string>> = {
  k3s: "Kubernetes does not go back to an earlier minor version",
  etcd: "its data is converted",
  longhorn: "its volumes are converted",
};

const minorOf = (version: string): string => /(\d+\.\d+)/.exec(version)?.[1] ?? version;

/** Why a move cannot be undone by moving back; null where it can. */
function irreversible(component: string, from: string | null, to: string | null): string | null {
  const reason = CONVERTS[component];
  if (from === null || !reason) return null;
  if (to === null) return "its data stays behind";
  return minorOf(from) === minorOf(to) ? null : reason;
}

/** The differences of two bundles as rows, what cannot be undone first. */
export function bundleMoves(diff: Omit<BundleDiff, "from" | "to">): Move[] {
  const pin = (part: string) => (it: PinChange) => ({
    part,
    ...it,
    warning: irreversible(it.component, it.from, it.to),
  });
  const turnover = (part: string, { added, removed }: BundleDiff["os"]) => [
    ...added.map((component) => ({ part, component, from: null, to: "added", warning: null })),
    ...removed.map((component) => ({ part, component, from: "present", to: "removed", warning: null })),
  ];
  const rows: Move[] = [
    ...diff.core.map(pin("core")),
    ...diff.profiles.changed.flatMap(({ profile, components }) => components.map(pin(`profile ${profile}`))),
    ...turnover("profile", diff.profiles),
    ...turnover("os", diff.os),
    ...turnover("ha tier", diff.ha_tiers),
    ...diff.settings.map(({ path, from, to }) => ({ part: "setting", component: path, from, to, warning: null })),
  ];
  return [...rows.filter(({ warning }) => warning), ...rows.filter(({ warning }) => !warning)];
}

export const BUNDLE_COMMANDS: readonly Command[] = [
  listing("listBundles", "bundles list", "List the platform bundles, oldest first", { view: BUNDLE }),
  verb("getBundle", "bundles show <version>", "Show what a bundle consists of", {
    fields: [arg("<version>", "version")],
  }),
  command(
    "diffBundles",
    "bundles diff <version> <other>",
    "Show what changes from one bundle to another; what cannot be undone is marked",
    {
      fields: [arg("<version>", "version"), arg("<other>", "other")],
      async run(call, { input }) {
        const diff = await send(call, "diffBundles", input);
        if (!isTable(call)) call.show(null, diff);
        else call.list(MOVE, bundleMoves(diff));
      },
    },
  ),
];
