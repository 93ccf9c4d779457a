import type { CredentialCheck } from "@binnacle/client";

interface CheckText {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The outcome of a check: what is missing first, and what could not be found out last. */
export function checkLines({ ok, error, identity, permissions, quotas }: CredentialCheck): CheckText {
  const title = ok ? "The credential suffices" : "The credential does not suffice";
  if (error) return { title, lines: [error.message] };
  const unknown = permissions.filter(({ allowed }) => allowed === null).map(({ action }) => action);
  const allowed = permissions.filter((permission) => permission.allowed).length;
  return {
    title,
    lines: [
      ...permissions.flatMap((it) => (it.allowed === false ? [`The permission ${it.action} is missing.`] : [])),
      ...quotas.flatMap((it) => (it.ok ? [] : [`The quota ${it.name} is used up: ${it.used} of ${it.limit}.`])),
      ...(identity ? [`The provider knows it as ${identity}.`] : []),
      ...(allowed > 0 ? [`${allowed} permissions that are needed are there.`] : []),
      ...quotas.flatMap((it) => (it.ok ? [`${it.name}: ${it.used} of ${it.limit} used.`] : [])),
      ...(unknown.length > 0 ? [`Whether it has these could not be found out: ${unknown.join(", ")}.`] : []),
    ],
  };
}
