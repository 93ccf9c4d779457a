import type { Parser } from "./parsers.ts";

export interface Variable<T, Fallback extends string | null | undefined = string | null | undefined> {
  readonly name: string;
  /** What an unset variable counts as; null leaves the value null, and without one it has to be set. */
  readonly fallback: Fallback;
  readonly parse: Parser<T>;
  /** For the table of all variables that people read. */
  readonly meaning: string;
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;

type ValueOf<V> = V extends Variable<infer T, infer Fallback> ? T | Extract<Fallback, null> : never;
export type ValuesOf<V extends Variables> = { readonly [K in keyof V]: ValueOf<V[K]> };

export const required = <T>(name: string, parse: Parser<T>, meaning: string): Variable<T, undefined> => ({
  name,
  fallback: undefined,
  parse,
  meaning,
});

export const setting = <T>(name: string, fallback: string, parse: Parser<T>, meaning: string): Variable<T, string> => ({
  name,
  fallback,
  parse,
  meaning,
});

export const optional = <T>(name: string, parse: Parser<T>, meaning: string): Variable<T, null> => ({
  name,
  fallback: null,
  parse,
  meaning,
});
