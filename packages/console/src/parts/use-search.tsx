import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Search, withChoice } from "../search.ts";

/** The choices of the page, which are kept in the address, and a function that changes some of them. */
export function usePageSearch(): readonly [Search, (changes: Search) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  return [
    search,
    (changes) =>
      void navigate({ to: ".", search: (before: Search) => withChoice(before, changes) as never, replace: true }),
  ];
}
