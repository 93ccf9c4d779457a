import {
  type AppProblem,
  type ComponentSpec,
  missingSecretsOf,
  type ProjectFacts,
  projectProblems,
  valueAt,
} from "@binnacle/contract";
import { keysOf } from "./app-secrets.ts";

/** The project does not matter to components that ask it for nothing. */
export const NOTHING_ASKED: ProjectFacts = { podSecurity: "privileged", hasInstance: () => true };

/** Returns the addon instances that components, or changes of them, name. A change may be of any form. */
export const instancesNamed = (components: readonly object[]): string[] =>
  components.map((component) => valueAt(component, ["addon_spec", "instance"])).filter((it) => typeof it === "string");

/** Whether the project has to be asked about components or changes of them. */
export const asksProject = (components: readonly object[]): boolean =>
  instancesNamed(components).length > 0 ||
  components.some((component) => valueAt(component, ["workload_spec", "security_context"]) !== undefined);

/**
 * Returns what a change asks of the project in vain. What the app had before does not stand in the way of changing something
 * else: its instance may have been deleted since, or the level of the project raised.
 */
export const projectProblemsAdded = (
  before: readonly ComponentSpec[],
  after: readonly ComponentSpec[],
  facts: ProjectFacts,
): AppProblem[] => added((components) => projectProblems(components, facts), before, after);

/** The components of an app with the paths of its secrets. */
interface WithSecretPaths {
  readonly components: readonly ComponentSpec[];
  readonly secretPaths: readonly string[];
}

/** Returns the secrets of files that a change leaves without a value, and that were not missing before. */
export const missingSecretsAdded = (before: WithSecretPaths, after: WithSecretPaths): AppProblem[] =>
  added(
    ({ components, secretPaths }: WithSecretPaths) => missingSecretsOf(components, (name) => keysOf(secretPaths, name)),
    before,
    after,
  );

/** Messages name component and field, so that equal ones are the same problem wherever the component stands. */
function added<S>(judge: (state: S) => AppProblem[], before: S, after: S): AppProblem[] {
  const had = new Set(judge(before).map(({ message }) => message));
  return judge(after).filter(({ message }) => !had.has(message));
}
