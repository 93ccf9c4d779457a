import type { Input } from "../http/guard.ts";
import type { AppAddress } from "./app.ts";

/** How every request about one app names it. */
type AppInput = Input<{ readonly namespace: string; readonly name: string }, { readonly project_id: string }>;

export const addressOf = ({
  params: { namespace, name },
  query: { project_id },
}: Omit<AppInput, "body">): AppAddress => ({
  projectId: project_id,
  namespace,
  name,
});

export const addressed = (input: AppInput): AppAddress => addressOf(input);
