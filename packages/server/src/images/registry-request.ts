/** What a request under `/v2/` asks for, by the paths of the OCI distribution specification. */
export type RegistryRequest =
  | { readonly kind: "base" }
  | { readonly kind: "tags"; readonly repository: string }
  | {
      readonly kind: "manifests" | "blobs" | "referrers";
      readonly repository: string;
      /** A tag or a digest. */
      readonly reference: string;
    };

const REPOSITORY = "[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*";
const ONE_ARTIFACT = new RegExp(`^(${REPOSITORY})/(manifests|blobs|referrers)/([^/]+)$`);
const TAGS = new RegExp(`^(${REPOSITORY})/tags/list$`);

/** Longer paths name nothing that is shipped, and are not matched at all. */
const LONGEST_PATH = 400;

/** Reads the part of a path after `/v2/`; null where the specification has no such path. */
export function registryRequest(path: string): RegistryRequest | null {
  if (path === "") return { kind: "base" };
  if (path.length > LONGEST_PATH) return null;
  const tags = TAGS.exec(path);
  if (tags?.[1]) return { kind: "tags", repository: tags[1] };
  const [, repository, kind, reference] = ONE_ARTIFACT.exec(path) ?? [];
  if (!repository || !reference) return null;
  return { kind: kind as "manifests" | "blobs" | "referrers", repository, reference };
}

const DIGEST = /^sha256:[a-f0-9]{64}$/;

export const isDigest = (reference: string) => DIGEST.test(reference);

/** Returns one page of tags in their order; `n` and `last` are those of the specification. */
export function pageOfTags(
  tags: readonly string[],
  { n, last }: { readonly n?: string | undefined; readonly last?: string | undefined },
): { readonly tags: readonly string[]; readonly hasMore: boolean } {
  const sorted = [...tags].sort().filter((tag) => last === undefined || tag > last);
  const most = n !== undefined && /^\d{1,9}$/.test(n) ? Number(n) : sorted.length;
  return { tags: sorted.slice(0, most), hasMore: most > 0 && sorted.length > most };
}
