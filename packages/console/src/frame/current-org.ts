interface Named {
  readonly slug: string;
}

/** The organization of the address; on a page that belongs to none, the one shown last, and the first one if there is none such. */
export const currentOrg = <T extends Named>(
  orgs: readonly T[],
  slug: string | undefined,
  last: string,
): T | undefined => orgs.find((each) => each.slug === slug) ?? orgs.find((each) => each.slug === last) ?? orgs[0];
