import type { BinnacleError, Input, ItemOf, ListName } from "@binnacle/client";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { client } from "./session.adapter.ts";

/** A choice among more than this many is no longer made by reading a list. */
const MOST = 1_000;

/** Reads all items of a list, for galleries and for choices in a form. Lists of unknown length use `ListTable`. */
export function useAll<N extends ListName>(
  name: N,
  input: Input<N>,
  enabled = true,
): UseQueryResult<readonly ItemOf<N>[], BinnacleError> {
  return useQuery<readonly ItemOf<N>[], BinnacleError>({
    queryKey: [name, { ...input, all: true }],
    enabled,
    async queryFn({ signal }) {
      const items: ItemOf<N>[] = [];
      for await (const item of client.pages(name, { ...input, items_per_page: 100 }, { signal })) {
        if (items.push(item) >= MOST) break;
      }
      return items;
    },
  });
}
