import type { ReleaseStore } from "./release.store.ts";
import type { ReleasePods, ReleasePodsSource } from "./release-pods.ts";
import type { ReleaseId, Revision } from "./revision.ts";

/** Knows how the pods of releases are known, so that what is looked at all the time costs no question to the cluster. */
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
    async sawRevision(id: ReleaseId, revision: Revision | null): Promise<void> {
      if (revision && known.get(keyOf(id))?.uid === revision.uid) return;
      const pods = await podsAt(id, revision);
      if (revision && pods) known.set(keyOf(id), { uid: revision.uid, pods });
      else known.delete(keyOf(id));
    },
    forget: (id: ReleaseId) => void known.delete(keyOf(id)),
  };
}
