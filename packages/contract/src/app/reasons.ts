import Type from "typebox";
import { INVALID_ON_CLUSTER, listed, PROBLEMS, type Texts, WARNINGS } from "./invalid-reasons.ts";

/**
 * Every reason that people see of an app, a component, an addon instance, a pod or a project, with what it means and what to do.
 * `docs/reasons.md`, `binnacle explain` and the document of the API are made of this list, and the operator reports no reason that is not in it.
 */
export interface Explanation {
  /** One sentence for people. */
  readonly meaning: string;
  /** What to do about it. */
  readonly action: string;
}

const namesIn = <K extends string>(texts: Texts<K>) => Object.keys(texts) as K[];

const NOTHING = "Nothing.";
const WAIT = "Wait.";

/** Permanent problems come before those that may pass: the first one that a pod has is the one that is reported. */
const PODS = listed({
  OOMKilled: [
    "A container needs more memory than its limit and is killed.",
    "Raise `resources.limits.memory`, or make the program use less.",
  ],
  ImagePullBackOff: [
    "The image cannot be pulled.",
    "Correct the name or the tag of the image, or add a registry secret for its registry.",
  ],
  CreateContainerConfigError: [
    "A container cannot be made, because something that it needs is missing.",
    "Read the message: it names the key or the object.",
  ],
  StartError: [
    "A container cannot be started: its command is missing or not executable.",
    "Correct `command`, or the image.",
  ],
  CrashLoopBackOff: [
    "A container ends again and again.",
    "Read its logs, also those before the restart, and correct the program or its configuration.",
  ],
  Evicted: [
    "A node has put a pod out, mostly because it ran out of memory or disk.",
    "Set `resources.requests` to what the program uses.",
  ],
  Unschedulable: [
    "No node can take a pod.",
    "Lower `resources.requests`, correct `node_selector`, `tolerations` or `affinity`, or add nodes.",
  ],
  Error: ["A container has ended with an error and is not restarted.", "Read its logs."],
  ProbeFailing: [
    "A container runs, but its startup or readiness probe does not succeed.",
    "Read its logs, and compare path and port of the probe with the program.",
  ],
});

const PROGRESS = listed({
  RolloutComplete: ["All components run as they were asked for.", NOTHING],
  RollingOut: ["A change is being rolled out.", WAIT],
  WaitingForComponents: [
    "A component waits for another one that starts before it.",
    "Wait; if it lasts, look at the component that is named.",
  ],
  WaitingForExports: [
    "A component waits for an export that is not known yet.",
    "Wait; if it lasts, look at the component or the addon that exports it.",
  ],
  WaitingForAddonInstance: [
    "The app waits for an addon instance to be ready.",
    "Wait; if it lasts, look at the instance.",
  ],
  VolumeGrowing: [
    "A volume has not reached its new size yet.",
    "Wait; some storage grows only when its pods are restarted.",
  ],
  WorkloadMissing: ["A workload is not on the cluster; it is being made again.", WAIT],
  Pausing: ["The app is being paused; some replicas still run.", WAIT],
  Paused: ["The app is paused: its workloads have no replicas.", "Resume it when it is to run."],
  Suspended: ["It is suspended; nothing is applied.", "Unsuspend it."],
  Deleting: ["The cluster is removing the objects.", WAIT],
});

const TROUBLE = listed({
  ReplicasMissing: ["Some replicas are not ready.", "Look at the pods of the component."],
  NoReplicas: ["No replica is ready.", "Look at the pods of the component."],
  ComponentFailed: ["A component has failed.", "Read the message and the events of the component."],
  PodRejected: [
    "The API server takes no pod of the workload: it violates a policy or exceeds a quota.",
    "Read the message; change the component, or have the policy or quota changed.",
  ],
  StateUnknown: [
    "The state of a component cannot be read on the cluster.",
    "Wait; if it lasts, look at the cluster and its operator.",
  ],
  BlockedSync: [
    "Another manager holds a field that Binnacle has to set, or the object is somebody else's.",
    "Remove the other manager's field, or redeploy with `force` to take it over.",
  ],
  HostTaken: [
    "A host is served by another project of the cluster.",
    "Choose another host, or have the other project give it up.",
  ],
  NameTaken: [
    "The cluster has an object of this name that is not Binnacle's, so nothing was stored.",
    "Remove that object if nobody needs it; it goes on by itself then. Or choose another name.",
  ],
  EmptyRendering: [
    "Nothing would be left of a component that has objects, so nothing was changed.",
    "Compare the component with the earlier revision.",
  ],
  HeldByFinalizers: [
    "Objects are held back by finalizers.",
    "Find the program that has set the finalizer, and let it finish or remove the finalizer.",
  ],
  DeletedOnCluster: [
    "It was deleted on the cluster, and is being made again.",
    "Wait; if it happens again, find out who deletes it.",
  ],
  Removed: ["The component is no longer in the app; its volumes stay until the app is deleted.", NOTHING],
});

const REFUSALS = listed({
  ImmutableField: [
    "Kubernetes does not change this field of an object that is there.",
    "Remove the component and add it again; the data in its volumes may be lost.",
  ],
  ImmutableVolume: [
    "A volume keeps the storage class and the access mode that it was made with.",
    "Set both back, or give the volume another name: a new one is empty.",
  ],
  ObjectRefused: ["Kubernetes does not take an object.", "Read the message, and correct the field that it names."],
  VolumeNotExpandable: [
    "The storage class of a volume does not allow expansion.",
    "Allow expansion in the storage class, or set `size_gb` back.",
  ],
  Forbidden: [
    "The operator may not do this on the cluster.",
    "Upgrade the operator's chart, or look for a policy that forbids it.",
  ],
  RefusedByCluster: [
    "The cluster refuses what the operator asks.",
    "Read the message; upgrade the operator's chart if rights are missing.",
  ],
  ClusterError: [
    "The cluster has failed three times or more to do what the operator asks, mostly because a webhook does not answer.",
    "Read the message: it names the webhook or the API that fails. It goes on by itself when that works again.",
  ],
  NamespaceMissing: ["The namespace is not there yet.", "Wait; if it lasts, look at the project."],
  DryRunUnsupported: [
    "A webhook of the cluster does not support dry runs, so nothing can be compared.",
    "Have the webhook declare `sideEffects: None`.",
  ],
});

const RELEASES = listed({
  ReleaseReady: ["The release is installed and ready.", NOTHING],
  Waiting: ["The release waits for Helm.", WAIT],
  Installing: ["Helm installs the release.", WAIT],
  Upgrading: ["Helm upgrades the release.", WAIT],
  NotReady: ["Objects of the release are not ready.", "Wait; if it lasts, look at its pods."],
  ObjectMissing: [
    "An object of the release is not on the cluster.",
    "Wait, it is made again; if it lasts, look for who deletes it.",
  ],
  ReleaseTooLarge: [
    "The chart and what it makes are larger than Kubernetes stores of a release.",
    "Leave large files out of the chart, or divide it.",
  ],
  InstallFailed: ["Helm could not install the release.", "Read the message, and correct values or version."],
  UpgradeFailed: [
    "Helm could not upgrade the release.",
    "Read the message, and correct values or version, or roll back.",
  ],
  UninstallFailed: ["Helm could not remove the release.", "Read the message; it is tried again."],
  ReleaseConflict: [
    "The namespace has a Helm release of this name that is somebody else's.",
    "Choose another name, or remove that release.",
  ],
  ExportsConflict: ["The Secret for the exports exists and is somebody else's.", "Remove or rename that Secret."],
  ForbiddenObject: [
    "The chart brings an object that a project may not have, or needs rights that it does not have.",
    "Have an administrator allow the chart cluster-wide rights, or change its values.",
  ],
  ForbiddenAnnotation: [
    "The chart sets an annotation with which it could claim hosts unseen.",
    "Remove the annotation from its values.",
  ],
  UnreadableManifest: ["What the chart renders cannot be read with certainty.", "Have the chart corrected."],
});

const CONNECTION = listed({
  operator_disconnected: [
    "The operator is not connected, so the change has not reached the cluster.",
    "Look at the operator's pod and at the network of the cluster; the change is sent when it is back.",
  ],
});

const LIFECYCLE = listed({
  operator_unreachable: [
    "The operator has not confirmed the project in time.",
    "Look at the cluster and its operator.",
  ],
  apply_failed: [
    "The operator could not make the namespace or its policies.",
    "Read the message; the operator tries again.",
  ],
  namespace_conflict: [
    "The namespace exists on the cluster and is not Binnacle's.",
    "Choose another name for the project, or remove that namespace if nobody needs it.",
  ],
  cleanup_degraded: [
    "The removal of the project does not come to its end.",
    "Read the message; look at the cluster and its operator.",
  ],
  cluster_detached: [
    "The cluster is being detached: what runs on it stays, and its record ends.",
    "Wait; the message of the cluster says what the operator has not let go of yet.",
  ],
  cluster_abandoned: [
    "The cluster was abandoned, so nobody confirms that its contents are gone.",
    "Delete the cluster's record, or let its operator return and remove everything.",
  ],
});

/** In the order and under the headings of the page for people. */
export const REASON_GROUPS = [
  ["Pods that do not get ready", PODS],
  ["Apps on their way", PROGRESS],
  ["Apps in trouble", TROUBLE],
  ["Objects that the cluster refuses", REFUSALS],
  ["Apps that name what they do not have yet", WARNINGS],
  ["Apps that cannot run", PROBLEMS],
  ["Apps that cannot run on this cluster", INVALID_ON_CLUSTER],
  ["Addons and charts", RELEASES],
  ["Changes that cannot reach the cluster", CONNECTION],
  ["Projects", LIFECYCLE],
] as const;

export const POD_TROUBLES = namesIn(PODS);
export type PodTroubleReason = keyof typeof PODS;
export const WARNING_CODES = namesIn(WARNINGS);
export type WarningCode = keyof typeof WARNINGS;
export type InvalidReason = WarningCode | keyof typeof PROBLEMS | keyof typeof INVALID_ON_CLUSTER;
export const LIFECYCLE_REASONS = namesIn(LIFECYCLE);
export type LifecycleReason = keyof typeof LIFECYCLE;

/** A reason that this version reports. Operators of other versions may report others. */
export type Reason =
  | InvalidReason
  | PodTroubleReason
  | keyof typeof PROGRESS
  | keyof typeof TROUBLE
  | keyof typeof REFUSALS
  | keyof typeof RELEASES
  | keyof typeof CONNECTION
  | LifecycleReason;

/** The part of a report that has the reason. Operators report listed ones only. */
export interface Reasoned {
  readonly reason: Reason | null;
}

export const REASONS = Object.fromEntries(
  REASON_GROUPS.flatMap(([, texts]) =>
    Object.entries(texts).map(([reason, [meaning, action]]) => [reason, { meaning, action }]),
  ),
) as Readonly<Record<Reason, Explanation>>;

/** A reason as an answer shows it. An unknown one passes, because operators are upgraded at other times than the control plane. */
export const ShownReason = Type.Unsafe<string>({
  title: "Reason",
  description:
    "`binnacle explain <reason>` says what it means and what to do. Operators of other versions may report other reasons.",
  anyOf: [
    Type.Enum(POD_TROUBLES, {
      title: "PodTrouble",
      description: "Why pods do not get ready. Time alone seldom resolves one of these.",
    }),
    Type.Enum((Object.keys(REASONS) as Reason[]).filter((reason) => !(reason in PODS))),
    Type.String(),
  ],
  examples: ["RolloutComplete"],
});
