/** The agent token, with which the operator shows which cluster it speaks for. */
export interface TokenStore {
  /** After a refusal it is looked up again where it is kept: somebody may have put a new one there. */
  current(options?: { readonly isRefused?: boolean }): Promise<string>;
  /** Comes back once the token is kept, and is used from the next connection on. */
  store(token: string): Promise<void>;
}
