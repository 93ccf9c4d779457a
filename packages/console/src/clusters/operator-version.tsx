import type { Cluster } from "@binnacle/client";
import { ToneIcon } from "../status/status-badge.tsx";
import { skewText, upgradeMark, upgradeText } from "./cluster-labels.ts";

/** The same for a row of a list, where an upgrade that is under way or has failed says more than the skew. */
export function OperatorCell({ of: cluster }: { readonly of: Cluster }) {
  if (cluster.operator_version === null) return "—";
  const mark = upgradeMark(cluster);
  if (!mark) return <OperatorVersion of={cluster} />;
  return (
    <span title={upgradeText(cluster.operator_upgrade)}>
      {cluster.operator_version} <ToneIcon tone={mark.tone} size={14} /> {mark.word}
    </span>
  );
}

/** The version of the operator, and how it compares with the control plane's where somebody has to act. */
export function OperatorVersion({ of: cluster }: { readonly of: Cluster }) {
  if (cluster.operator_version === null) return "not connected yet";
  const skew = skewText(cluster.operator_skew);
  return (
    <>
      {cluster.operator_version}
      {skew ? (
        <>
          {" "}
          <ToneIcon tone={skew.tone} size={14} /> {skew.word}
        </>
      ) : null}
    </>
  );
}
