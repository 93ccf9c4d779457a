import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Search, searchOf, withChoice } from "../search.ts";

/** The choices of the page, which are kept in the address, and a function that changes some of them. */
export function usePageSearch(): readonly [Search, (changes: Search) => void] {
  // The router hands on what the address has, also where `validateSearch` has left it out.
  const search: Search = searchOf(useSearch({ strict: false }));
  const navigate = useNavigate();
  return [
    search,
    (changes) =>
      void navigate({ to: ".", search: (before: Search) => withChoice(before, changes) as never, replace: true }),
  ];
}
