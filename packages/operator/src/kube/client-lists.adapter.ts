import type { Transport } from "./client-transport.adapter.ts";
import type { KubeList, KubeObject, ListOptions, ResourceType } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { named, pathOf } from "./kube-path.ts";
import { readItems } from "./list-items.ts";
import { METADATA_LIST } from "./metadata-types.ts";

/** As many objects as an answer may have; a large cluster is read page by page. */
const PAGE_SIZE = 500;

/** The API server gives up on a list after this time. */
const LIST_TIMEOUT_MS = 60_000;

/** What is around the items of a page. */
interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

/** Never holds more than one item of an answer besides what `trim` leaves of the others. */
export async function listPages<T extends KubeObject>(
  { read }: Pick<Transport, "read">,
  type: ResourceType,
  {
    namespace,
    signal,
    trim = (object) => object,
    isMetadataOnly = false,
    mayBeStale = false,
    ...selectors
  }: ListOptions<T> = {},
): Promise<KubeList<T>> {
  const path = pathOf(type, { namespace });
  const accept = isMetadataOnly ? METADATA_LIST : undefined;
  const items: T[] = [];
  // The items of a list do not say their kind, which the reader of an object counts on.
  const take = (item: unknown) => void items.push(trim(named(item as T, type)));

  async function page(token: string | undefined): Promise<Page> {
    const from = token === undefined ? { resourceVersion: mayBeStale ? "0" : undefined } : { continue: token };
    const query = { ...selectors, limit: PAGE_SIZE, ...from };
    const request = { method: "GET", path, query, accept, signal, timeoutMs: LIST_TIMEOUT_MS };
    return read(request, async (chunks) => (await readItems(chunks, take)) as Page);
  }

  let { metadata } = await page(undefined);
  // All pages are of the time of the first one. After an interruption the rest is newer, and a watch from that time shows again
  // what changed in between.
  const resourceVersion = metadata?.resourceVersion ?? "";
  while (metadata?.continue) {
    const token = metadata.continue;
    ({ metadata } = await page(token).catch((error: unknown) => page(renewedToken(error))));
  }
  return { resourceVersion, items };
}

/** The list is older than what the server remembers; with this token it gives the rest as it is now. */
function renewedToken(error: unknown): string {
  if (error instanceof KubeError && error.status === 410 && error.continueToken) return error.continueToken;
  throw error;
}
