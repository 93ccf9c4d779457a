/** Reasons why an app cannot run as it is written. */

export type Texts<K extends string> = Readonly<Record<K, readonly [meaning: string, action: string]>>;
export const listed = <K extends string>(texts: Texts<K>): Texts<K> => texts;

/** What an app may name and not have yet: it is recorded, and `invalid` until it has it. */
export const WARNINGS = listed({
  MissingImage: ["A workload has no image.", "Set `workload_spec.image`."],
  MissingSecret: [
    "A file is to hold a secret that the component does not have.",
    "Set the secret, or remove the file.",
  ],
  UnknownComponent: [
    "A component names another one that the app does not have.",
    "Add that component, or correct the name.",
  ],
  UnknownExport: [
    "A component takes an export that the other one does not have.",
    "Correct the key; the message names those that there are.",
  ],
});

/** An app that has one of these is refused with a 422. One that was stored before has the phase `invalid`. */
export const PROBLEMS = listed({
  NoComponents: ["The app has no components.", "Add one."],
  TooManyComponents: ["The app has more than 100 components.", "Make two apps of it."],
  AppTooLarge: [
    "The components of the app are too large together to be sent to a cluster.",
    "Move the content of files into the image or into a volume.",
  ],
  NameTooLong: [
    "The names of app and component are together longer than Kubernetes takes.",
    "Choose a shorter name for the component.",
  ],
  DuplicateName: [
    "Two components or containers, or the objects they become, would have the same name.",
    "Rename one of them.",
  ],
  DuplicateValue: ["A variable, a port, a volume or the like is in its list twice.", "Remove one of them."],
  DependencyCircle: ["Components need each other in a circle.", "Remove one of the references that the message names."],
  IngressConflict: ["Two components have the same host and path.", "Give one of them another host or path."],
  InvalidAutoscale: ["The most replicas are fewer than the least.", "Correct `autoscale.min` or `autoscale.max`."],
  InvalidFile: ["A file has no place of its own, or files are too large together.", "Change its path, or its content."],
  InvalidHost: ["The host of an ingress is not the name of a host.", "Correct `ingress.host`."],
  InvalidImage: [
    "An image is not a reference that container runtimes parse.",
    "Correct it, such as `registry.example.com/team/app:1.2`.",
  ],
  InvalidPath: [
    "The path of an ingress is not one that Kubernetes takes.",
    "Correct `ingress.path`: no step of it is empty, `.` or `..`, and none has `%2f`.",
  ],
  InvalidResources: ["A container requests more than its limit.", "Lower the request, or raise the limit."],
  InvalidSchedule: [
    "A schedule is not one that Kubernetes takes.",
    "Correct `schedule`: five fields, or a shortcut such as `@daily`.",
  ],
  UnknownAffinity: ["An affinity names a component that the app does not have.", "Correct the name."],
  UnknownPort: [
    "An ingress leads to a port that the component does not serve.",
    "Add the port to `ports`, or correct `ingress.port`.",
  ],
});

export const INVALID_ON_CLUSTER = listed({
  MissingChart: ["A component has neither an addon instance nor a chart.", "Give it one of them."],
  UnknownAddonInstance: [
    "A component names an addon instance that the namespace does not have.",
    "Create the instance; the app goes on by itself then.",
  ],
  AddonInstanceDeleted: [
    "An addon instance that the app uses was deleted.",
    "Create one of this name again, or remove the component and the references to it.",
  ],
  InvalidSecurityContext: [
    "A component asks for root, which the Pod Security level of the project does not allow.",
    "Change `security_context`, or have an administrator change the level.",
  ],
  TooLarge: [
    "Variables, files, secrets or an export are larger than Kubernetes takes.",
    "Make them smaller, or mount a volume.",
  ],
});
