import type { PodSecurity } from "../states.ts";
import type { ComponentSpec } from "./component.ts";
import { type AppProblem, problem } from "./problem.ts";
import type { Workload } from "./workload-problems.ts";

/** What the project of an app says about its components. */
export interface ProjectFacts {
  /** The level that pods of the project are held to. */
  readonly podSecurity: PodSecurity;
  readonly hasInstance: (name: string) => boolean;
}

type JudgedInProject = Pick<ComponentSpec, "name" | "addon_spec"> & { readonly workload_spec?: Workload };

/** Returns what keeps components from ever running in the project as it is. Server and operator judge by it. */
export const projectProblems = (components: readonly JudgedInProject[], facts: ProjectFacts): AppProblem[] =>
  components.flatMap((component, index) => [
    ...rootProblem(component, index, facts),
    ...instanceProblem(component, index, facts),
  ]);

/** The level adds what it asks for by name. It does not overrule a component that asks for the opposite. */
function rootProblem({ name, workload_spec }: JudgedInProject, index: number, facts: ProjectFacts): AppProblem[] {
  const { run_as_user, run_as_non_root } = workload_spec?.security_context ?? {};
  const field = run_as_user === 0 ? "run_as_user" : run_as_non_root === false ? "run_as_non_root" : null;
  if (field === null || facts.podSecurity !== "restricted") return [];
  const message = `Component ${name} asks for root in workload_spec.security_context.${field}, but the Pod Security level of the project is restricted.`;
  return [
    problem("InvalidSecurityContext", ["components", index, "workload_spec", "security_context", field], message),
  ];
}

function instanceProblem({ name, addon_spec }: JudgedInProject, index: number, facts: ProjectFacts): AppProblem[] {
  const instance = addon_spec?.instance;
  if (instance === undefined || facts.hasInstance(instance)) return [];
  const message = `Component ${name} names the addon instance ${instance} in addon_spec.instance, but the project has none of this name. Create it first, or correct the name.`;
  return [problem("UnknownAddonInstance", ["components", index, "addon_spec", "instance"], message)];
}
