/**
 * What people choose on a page, as it stands in the address: text that a page reads by name. Values of any other form are left
 * out, because an address may come from anywhere.
 */
export type Search = Readonly<Record<string, string | undefined>>;

const LONGEST = 500;

export function searchOf(given: Readonly<Record<string, unknown>>): Search {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => {
      const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
      return typeof text === "string" && text !== "" && text.length <= LONGEST ? [[key, text]] : [];
    }),
  );
}

/** The search after a choice; an empty value removes the key, so that addresses stay short. */
export function withChoice(search: Search, changes: Search): Search {
  return Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value));
}

/** The choices in the query of an address, each as it stands there: "1.10" is a version and no number. */
export const parseSearch = (query: string): Search => searchOf(Object.fromEntries(new URLSearchParams(query)));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(searchOf(search) as Record<string, string>).toString();
  return query === "" ? "" : `?${query}`;
}
