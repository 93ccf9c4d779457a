import { column, type Row, view } from "./output.ts";

export const MOVE = view(
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
export function bundleMoves(diff: Row): Row[] {
  const pin = (part: string) => (it: Row) => ({ part, ...it, warning: irreversible(it.component, it.from, it.to) });
  const turnover = (part: string, { added, removed }: Row) => [
    ...added.map((component: string) => ({ part, component, from: null, to: "added", warning: null })),
    ...removed.map((component: string) => ({ part, component, from: "present", to: "removed", warning: null })),
  ];
  const rows = [
    ...diff.core.map(pin("core")),
    ...diff.profiles.changed.flatMap(({ profile, components }: Row) => components.map(pin(`profile ${profile}`))),
    ...turnover("profile", diff.profiles),
    ...turnover("os", diff.os),
    ...turnover("ha tier", diff.ha_tiers),
    ...diff.settings.map(({ path, from, to }: Row) => ({ part: "setting", component: path, from, to, warning: null })),
  ];
  return [...rows.filter(({ warning }) => warning), ...rows.filter(({ warning }) => !warning)];
}
