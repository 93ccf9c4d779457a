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
import { failureOf } from "./failure.ts";
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
    queryFn: ({ signal }) => readOf(name, input, signal),
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchMs ?? false,
    ...(options.keepEarlier ? { placeholderData: keepPreviousData } : {}),
  });
}

const readOf = <N extends CallName>(name: N, input: Input<N>, signal?: AbortSignal): Promise<Answer<N>> =>
  client.call(name, input, { signal });

const ROWS_PER_PAGE = 100;
const pageOf = (index: number): number => Math.floor(index / ROWS_PER_PAGE) + 1;

/** The rows that have been read. It stays the same object until one of them changes. */
export interface RowTable<T> {
  /** Null until the first page has come. */
  readonly total: number | null;
  /** Whether there are more than `total`, which the server does not count. */
  readonly isCapped: boolean;
  /** Undefined while its page is being read. */
  rowAt(index: number): T | undefined;
}

export interface Rows<T> {
  readonly table: RowTable<T>;
  readonly error: unknown;
  /** Whether it is asked for again although it has failed. */
  readonly isRepeated: boolean;
  readonly refetch: () => void;
}

interface RowPage<T> {
  readonly data: readonly T[];
  readonly total_count: number;
  readonly total_capped?: boolean;
}

/** A page with long rows ends early, and the rest of it is read at its cursor. */
async function readPage<T>(name: ListName, asked: object, signal: AbortSignal): Promise<RowPage<T>> {
  const read = (input: object) =>
    readOf(name, input as never, signal) as Promise<unknown> as Promise<
      RowPage<T> & { readonly next_cursor?: string | null }
    >;
  let answer = await read(asked);
  const data = [...answer.data];
  while (answer.next_cursor && answer.data.length > 0 && data.length < ROWS_PER_PAGE) {
    answer = await read({ ...asked, cursor: answer.next_cursor, items_per_page: ROWS_PER_PAGE - data.length });
    data.push(...answer.data);
  }
  return { ...answer, data };
}

/** Reads the pages of a list that hold the rows from `first` to `last`; the other rows are read when they come into view. */
export function useRows<N extends ListName>(name: N, input: Input<N>, first: number, last: number): Rows<ItemOf<N>> {
  const from = pageOf(first);
  const to = Math.max(from, pageOf(last));
  // The first page is always read, because it says how many rows there are.
  const pages = useMemo(
    () => [...new Set([1, ...Array.from({ length: to - from + 1 }, (_, i) => from + i)])],
    [from, to],
  );
  const { read, ...state } = useQueries({
    queries: pages.map((page) => {
      const asked = { ...input, page, items_per_page: ROWS_PER_PAGE };
      return {
        queryKey: [name, asked],
        queryFn: ({ signal }: { signal: AbortSignal }) => readPage<ItemOf<N>>(name, asked, signal),
        refetchInterval: 30_000,
      };
    }),
    combine: combined<ItemOf<N>>,
  });
  const table = useMemo((): RowTable<ItemOf<N>> => {
    const byPage = new Map(pages.map((page, index) => [page, read[index]]));
    return {
      total: byPage.get(1)?.total_count ?? null,
      isCapped: byPage.get(1)?.total_capped ?? false,
      rowAt: (index) => byPage.get(pageOf(index))?.data[index % ROWS_PER_PAGE],
    };
  }, [pages, read]);
  return { table, ...state };
}

/** The library keeps `read` the same array while no page of it has changed. */
function combined<T>(results: readonly UseQueryResult<unknown>[]) {
  const failed = results.find((result) => failureOf(result) !== null);
  return {
    read: results.map(({ data }) => data as RowPage<T> | undefined),
    error: failed ? failureOf(failed) : null,
    isRepeated: failed?.error === null,
    refetch: () => void Promise.all(results.map((result) => result.refetch())),
  };
}

/** The input of a change with what may go beside it, such as `ifMatch`; as a function where it is found out at the last moment. */
export type ChangeInput<N extends CallName> = Input<N> & {
  readonly $options?: CallOptions | (() => Promise<CallOptions>);
};

/** A read that fails is asked for until the server answers. No change waits for that longer than this. */
const READ_AGAIN_WITHIN_MS = 2_000;

/** Sends a change. What is on screen is read again afterwards, whatever the change was about; `onAnswer` is called before that. */
export function useChange<N extends CallName>(name: N, onAnswer?: () => void) {
  const cache = useQueryClient();
  return useMutation<Answer<N>, BinnacleError, ChangeInput<N>>({
    mutationFn: async ({ $options, ...input }) =>
      client.call(name, input, typeof $options === "function" ? await $options() : $options),
    // The input may hold a password, so it is forgotten with the form that sent it.
    gcTime: 0,
    onSuccess: () => onAnswer?.(),
    onSettled: () =>
      Promise.race([
        cache.invalidateQueries(),
        new Promise<void>((resolve) => setTimeout(resolve, READ_AGAIN_WITHIN_MS)),
      ]),
  });
}
