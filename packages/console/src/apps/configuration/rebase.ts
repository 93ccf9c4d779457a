import { isSame, mergePatchBetween } from "@binnacle/manifest/patch";
import { type Fields, isFields } from "@binnacle/manifest/read";
import type { AppForm, ComponentForm } from "./app-form.ts";

export interface Rebased {
  readonly form: AppForm;
  /** The fields that both have changed, and not in the same way; mine are in the form. */
  readonly overlaps: readonly string[];
}

/**
 * My changes on top of somebody else's: what I changed is as I want it, and everything else as they have left it. A component that I
 * did not touch and they removed stays away.
 */
export function rebased(base: AppForm, mine: AppForm, theirs: AppForm): Rebased {
  const named = (form: AppForm, name: string) => form.components.find((component) => component.name === name);
  const overlaps: string[] = [];
  const kept = theirs.components.flatMap((their): readonly ComponentForm[] => {
    const old = named(base, their.name);
    const my = named(mine, their.name);
    if (!my) {
      // I removed it, or they added it.
      if (!old) return [their];
      if (!isSame(old, their)) overlaps.push(their.name);
      return [];
    }
    if (!old) {
      if (!isSame(my, their)) overlaps.push(their.name);
      return [my];
    }
    const merged = mergedFields(old, my, their, their.name, overlaps);
    return [merged as unknown as ComponentForm];
  });
  const added = mine.components.filter((my) => {
    if (named(theirs, my.name)) return false;
    const old = named(base, my.name);
    if (old === undefined) return true;
    if (isSame(old, my)) return false;
    overlaps.push(my.name);
    return true;
  });
  const isMyDescription = mine.description !== base.description;
  if (isMyDescription && theirs.description !== base.description && theirs.description !== mine.description)
    overlaps.push("description");
  return {
    form: {
      name: theirs.name,
      description: isMyDescription ? mine.description : theirs.description,
      components: [...kept, ...added],
    },
    overlaps,
  };
}

function mergedFields(base: Fields, mine: Fields, theirs: Fields, at: string, overlaps: string[]): Fields {
  const merged = new Map(Object.entries(theirs));
  for (const key of Object.keys(mergePatchBetween(base, mine))) {
    const [old, my, their] = [base[key], mine[key], theirs[key]];
    const path = `${at}.${key}`;
    if (isFields(old) && isFields(my) && isFields(their)) merged.set(key, mergedFields(old, my, their, path, overlaps));
    else {
      if (!isSame(old, their) && !isSame(my, their)) overlaps.push(path);
      if (my === undefined) merged.delete(key);
      else merged.set(key, my);
    }
  }
  return Object.fromEntries(merged);
}
