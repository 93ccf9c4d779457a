import { MAX_SETTINGS, MAX_SETTINGS_BYTES, type OrgRole, OrgSettings, type Org as WireOrg } from "@binnacle/contract";
import { conflict, Fault, invalidValue } from "../fault.ts";

export interface Org {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly settings: Record<string, unknown>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The settings are not listed. */
export type ListedOrg = Omit<Org, "settings">;

export interface Member {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: OrgRole;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function wireOrg(org: ListedOrg): WireOrg {
  return {
    id: org.id,
    name: org.name,
    slug: org.slug,
    description: org.description,
    created_at: org.created_at.toISOString(),
    updated_at: org.updated_at.toISOString(),
  };
}

export function wireMember(member: Member) {
  return { ...member, created_at: member.created_at.toISOString(), updated_at: member.updated_at.toISOString() };
}

const LONGEST_SLUG = 50;

/** Derives `ops-platform` from `Ops & Platform`; a name without Latin letters and digits gets its id. */
export function slugOf(name: string, id: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, LONGEST_SLUG)
    .replace(/-$/, "");
  return slug || `org-${id}`;
}

/** The later of two organizations with the same slug gets the end of its id appended. */
export const distinctSlug = (slug: string, id: string) => `${slug}-${id.slice(-6)}`;

export const orgNameTaken = () => conflict("An organization with this name already exists.");
export const stillHasClusters = () => conflict("The organization still has clusters; delete them first.");
export const alreadyMember = () => conflict("The user is already a member of the organization.");

export interface Admin {
  readonly user_id: string;
  readonly disabled: boolean;
}

/** An organization must keep an administrator who is not disabled, because nobody else could repair it. */
export function lastAdminProblem(admins: readonly Admin[], userId: string, next: OrgRole | null): Fault | null {
  const leaving = admins.find(({ user_id }) => user_id === userId);
  if (!leaving || next === "admin") return null;
  const others = admins.filter(({ user_id }) => user_id !== userId);
  const isLast = leaving.disabled ? others.length === 0 : others.every(({ disabled }) => disabled);
  return isLast ? conflict("An organization keeps at least one administrator.") : null;
}

/** Merges the top level: keys that are left out stay, and null removes a key. */
export function mergeSettings(settings: Record<string, unknown>, changes: Record<string, unknown>): OrgSettings {
  return Object.fromEntries(Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null));
}

export function settingsProblem(settings: OrgSettings): Fault | null {
  if (Object.keys(settings).length > MAX_SETTINGS) {
    return invalidValue(["body", "settings"], `An organization has at most ${MAX_SETTINGS} settings`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(settings));
  if (bytes <= MAX_SETTINGS_BYTES) return null;
  return new Fault(
    "payload_too_large",
    `The organization's settings would take ${bytes} bytes as JSON; all of them together take at most ${MAX_SETTINGS_BYTES}. Remove a setting by giving it as null.`,
  );
}

/** Known settings that are stored with the organization. `gitops` has a table of its own, because a part of it is secret. */
const { gitops: _apart, ...STORED } = OrgSettings.properties;

/** Without `gitops` as releases stored it that did nothing with it. */
export function storedSettings({ gitops: _earlier, ...settings }: Record<string, unknown>): Record<string, unknown> {
  return settings;
}

/** The settings whose values may be shown. */
export const knownSettings = (settings: OrgSettings): Record<string, unknown> =>
  Object.fromEntries(Object.keys(STORED).map((key) => [key, (settings as Record<string, unknown>)[key] ?? null]));

/** An unknown key may contain a secret, so the audit log names it without its value. */
export function auditedSettings(changes: Record<string, unknown>): Record<string, unknown> {
  const isShown = (key: string, value: unknown) => value === null || Object.hasOwn(STORED, key);
  return Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [key, isShown(key, value) ? value : "changed"]),
  );
}
