import type { OperatorFrame } from "@binnacle/contract";

type WithoutSession<F> = F extends { readonly session: string } ? Omit<F, "session"> : never;

/** A frame before it is known in which session it is sent. */
export type Unsent = WithoutSession<OperatorFrame>;
export type UnsentOf<T extends Unsent["type"]> = Extract<Unsent, { readonly type: T }>;
