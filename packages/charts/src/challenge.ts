/** What the 401 of a registry asks for, by its `WWW-Authenticate` header. */
type Challenge =
  | { readonly scheme: "basic" }
  | {
      readonly scheme: "bearer";
      /** Where tokens are given. */
      readonly realm: URL;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

/** Null where the header is missing or of another kind. */
export function challengeOf(header: string): Challenge | null {
  if (/^basic\b/i.test(header)) return { scheme: "basic" };
  const field = (name: string) => new RegExp(`\\b${name}="([^"]*)"`, "i").exec(header)?.[1];
  const realm = URL.parse(field("realm") ?? "");
  if (!/^bearer /i.test(header) || !realm) return null;
  return { scheme: "bearer", realm, service: field("service"), scope: field("scope") };
}

/** The address that gives a token for the scopes. */
export function tokenAddress(
  { realm, service }: Extract<Challenge, { readonly scheme: "bearer" }>,
  scopes: readonly string[],
): string {
  const address = new URL(realm);
  if (service) address.searchParams.set("service", service);
  for (const scope of scopes) address.searchParams.append("scope", scope);
  return address.href;
}

/** The token in the answer of such an address; null where there is none that a header can carry. */
export function tokenIn({ token, access_token }: { token?: unknown; access_token?: unknown }): string | null {
  const given = token ?? access_token;
  return typeof given === "string" && /^[\x21-\x7e]+$/.test(given) ? given : null;
}
