import type { Answer, BinnacleError, CallName, CallOptions, Input, ItemOf, ListName } from "@binnacle/client";
import {
  keepPreviousData,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useMemo } from "react";
import { client } from "./session.adapter.ts";

interface ReadOptions {
  readonly enabled?: boolean | undefined;
  /** Reads that show how fresh they are, are read again this often although no event has come. */
  readonly refetchMs?: number | undefined;
  /** Shows the answer to the earlier input until the one to the new input has come. */
  readonly keepEarlier?: boolean | undefined;
}

export type Read<N extends CallName> = UseQueryResult<Answer<N>, BinnacleError>;

/** Reads an operation of the API and keeps its answer live; see `live.ts`. */
export function useRead<N extends CallName>(name: N, input: Input<N>, options: ReadOptions = {}): Read<N> {
  return useQuery<Answer<N>, BinnacleError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => read(name, input, signal),
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchMs ?? false,
    ...(options.keepEarlier ? { placeholderData: keepPreviousData } : {}),
  });
}

const read = <N extends CallName>(name: N, input: Input<N>, signal?: AbortSignal): Promise<Answer<N>> =>
  (client.call as (name: N, input: Input<N>, options: CallOptions) => Promise<Answer<N>>)(name, input, { signal });

const ROWS_PER_PAGE = 100;

export interface Rows<T> {
  /** Null until the first page has come. */
  readonly total: number | null;
  /** Undefined while its page is being read. */
  rowAt(index: number): T | undefined;
  readonly error: BinnacleError | null;
  readonly isPending: boolean;
  readonly refetch: () => void;
}

/** Reads the pages of a list that hold the rows from `first` to `last`; the other rows are read when they come into view. */
export function useRows<N extends ListName>(name: N, input: Input<N>, first: number, last: number): Rows<ItemOf<N>> {
  const from = Math.floor(first / ROWS_PER_PAGE) + 1;
  const to = Math.max(from, Math.floor(last / ROWS_PER_PAGE) + 1);
  // The first page is always read, because it says how many rows there are.
  const pages = useMemo(
    () => [...new Set([1, ...Array.from({ length: to - from + 1 }, (_, i) => from + i)])],
    [from, to],
  );
  const results = useQueries({
    queries: pages.map((page) => {
      const asked = { ...input, page, items_per_page: ROWS_PER_PAGE };
      return {
        queryKey: [name, asked],
        queryFn: ({ signal }: { signal: AbortSignal }) => read(name, asked as Input<N>, signal),
        refetchInterval: 30_000,
      };
    }),
  }) as UseQueryResult<{ data: readonly ItemOf<N>[]; total_count: number }, BinnacleError>[];
  const byPage = new Map(pages.map((page, index) => [page, results[index]?.data]));
  return {
    total: byPage.get(1)?.total_count ?? null,
    rowAt: (index) => byPage.get(Math.floor(index / ROWS_PER_PAGE) + 1)?.data[index % ROWS_PER_PAGE],
    error: results.find(({ error }) => error !== null)?.error ?? null,
    isPending: results[0]?.isPending ?? true,
    refetch: () => void Promise.all(results.map((result) => result.refetch())),
  };
}

/** The input of a change with what may go beside it, such as `ifMatch`. */
export type ChangeInput<N extends CallName> = Input<N> & { readonly $options?: CallOptions };

/** Sends a change. What is on screen is read again afterwards, whatever the change was about. */
export function useChange<N extends CallName>(name: N) {
  const cache = useQueryClient();
  return useMutation<Answer<N>, BinnacleError, ChangeInput<N>>({
    mutationFn: ({ $options, ...input }) =>
      (client.call as (name: N, input: object, options?: CallOptions) => Promise<Answer<N>>)(name, input, $options),
    // The input may hold a password, so it is forgotten with the form that sent it.
    gcTime: 0,
    onSettled: () => cache.invalidateQueries(),
  });
}
