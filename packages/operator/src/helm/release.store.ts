import type { KubeClient, ObjectMeta } from "../kube/kube-client.ts";
import { pathOf } from "../kube/kube-path.ts";
import { METADATA_LIST } from "../kube/metadata-types.ts";
import { SECRETS } from "../kube/resource-types.ts";
import { contentIn, manifestIn, NO_CONTENT, type ReleaseContent } from "./manifest.ts";
import type { ReleasePods, ReleasePodsSource } from "./release-pods.ts";
import { type ReleaseId, type Revision, revisionsIn } from "./revision.ts";

/** Of manifests, in characters. The one that was read longest ago goes first. */
const MOST_KNOWN = 32 * 1024 * 1024;

/** Reads Helm's revisions without starting Helm. */
export function createReleaseStore(kube: Pick<KubeClient, "raw" | "get" | "delete">, clusterId: string) {
  /** By the uid of the Secret, whose content does not change but for the status. */
  const known = new Map<string, ReleaseContent>();

  function forgetOldest(): void {
    let size = [...known.values()].reduce((sum, content) => sum + content.size, 0);
    for (const [uid, content] of known) {
      if (size <= MOST_KNOWN) return;
      known.delete(uid);
      size -= content.size;
    }
  }

  return {
    /** Oldest first. */
    async revisions(id: ReleaseId): Promise<readonly Revision[]> {
      const path = pathOf(SECRETS, { namespace: id.namespace });
      const query = { labelSelector: `owner=helm,name=${id.name}` };
      const { items } = await kube.raw<{ items: { metadata: ObjectMeta }[] | null }>("GET", path, {
        query,
        // Their contents are large, and nobody asks for them here.
        accept: METADATA_LIST,
      });
      // An empty list of this form is null.
      return revisionsIn(items ?? [], id, clusterId);
    },

    async content({ namespace }: ReleaseId, { secret: name, uid }: Revision): Promise<ReleaseContent> {
      const seen = known.get(uid);
      if (seen) {
        known.delete(uid);
        known.set(uid, seen);
        return seen;
      }
      const secret = await kube.get(SECRETS, name, namespace);
      const content = secret ? contentIn(secret) : NO_CONTENT;
      if (secret) known.set(uid, content);
      forgetOldest();
      return content;
    },

    /** The text of everything that a revision is made of; null where it cannot be read. */
    async manifest({ namespace }: ReleaseId, { secret: name }: Revision): Promise<string | null> {
      const secret = await kube.get(SECRETS, name, namespace);
      return secret && manifestIn(secret);
    },

    async forget({ namespace }: ReleaseId, revisions: readonly Revision[]): Promise<void> {
      for (const { secret, uid, isOurs } of revisions) {
        if (isOurs) await kube.delete(SECRETS, secret, namespace, { preconditions: { uid } });
        known.delete(uid);
      }
    },
  };
}
export type ReleaseStore = ReturnType<typeof createReleaseStore>;

/** Caches how the pods of releases are recognized, so that frequent reads cost no request. */
export function createReleasePods(store: Pick<ReleaseStore, "revisions" | "content">) {
  const known = new Map<string, { readonly uid: string; readonly pods: ReleasePods }>();

  const keyOf = ({ namespace, name, owner }: ReleaseId) => `${namespace}/${name}/${owner}`;

  async function podsAt(id: ReleaseId, revision: Revision | null): Promise<ReleasePods | null> {
    if (!revision?.isOurs) return null;
    const { podMakers } = await store.content(id, revision);
    return { release: id.name, makers: podMakers };
  }

  const source: ReleasePodsSource = {
    known: (id) => known.get(keyOf(id))?.pods ?? null,
    read: async (id) => podsAt(id, (await store.revisions(id)).at(-1) ?? null),
  };
  return {
    source,
    async setRevision(id: ReleaseId, revision: Revision | null): Promise<void> {
      if (revision && known.get(keyOf(id))?.uid === revision.uid) return;
      const pods = await podsAt(id, revision);
      if (revision && pods) known.set(keyOf(id), { uid: revision.uid, pods });
      else known.delete(keyOf(id));
    },
    forget: (id: ReleaseId) => void known.delete(keyOf(id)),
  };
}
