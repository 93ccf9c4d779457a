import type { Search } from "../search.ts";

/** What a filter of the address may have: values of a list, the id of an object, or the order by a column. */
export type Offered = readonly { readonly value: string }[] | "id" | { readonly orders: readonly string[] };

/** A part of the address that the page has nothing for. */
export interface Wrong {
  readonly name: string;
  readonly value: string;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function isOffered(value: string, offered: Offered): boolean {
  if (offered === "id") return ID.test(value);
  if ("orders" in offered) return offered.orders.includes(value.replace(/^-/, ""));
  return offered.some((choice) => choice.value === value);
}

/** The choices of an address of which the page knows the meaning, and the others, of which the API would refuse the whole list. */
export function knownSearch(search: Search, filters: Readonly<Record<string, Offered>>) {
  const known: Record<string, string | undefined> = { ...search };
  const wrong: Wrong[] = [];
  for (const [name, offered] of Object.entries(filters)) {
    const values = search[name]?.split(",") ?? [];
    const right = values.filter((value) => isOffered(value, offered));
    if (right.length === values.length) continue;
    known[name] = right.length > 0 ? right.join(",") : undefined;
    wrong.push(...values.filter((value) => !isOffered(value, offered)).map((value) => ({ name, value })));
  }
  return { known: known as Search, wrong };
}

const SAID_AS: Readonly<Record<string, string>> = { sort: "order" };

/** What is said about a part of the address that the page has nothing for. */
export const wrongText = ({ name, value }: Wrong): string =>
  `The address asks for the ${SAID_AS[name] ?? name} “${value}”, which does not exist.`;
