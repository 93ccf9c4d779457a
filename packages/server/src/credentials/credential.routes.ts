import {
  CLOUD_PROVIDERS,
  checkCredential,
  createCredential,
  credentialFieldsOf,
  deleteCredential,
  getCredential,
  listCloudProviders,
  listCredentials,
  updateCredential,
} from "@binnacle/contract";
import { requireRoomForCheck } from "../accounts/check-room.runner.ts";
import { at, signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import {
  deleteCredentialRow,
  insertCredential,
  listCredentialRows,
  lockCredential,
  updateCredentialRow,
} from "./credential.store.ts";
import {
  auditedCredential,
  type Credential,
  comingSoon,
  foreignFields,
  lacking,
  openedFor,
  wireCheck,
  wireCredential,
} from "./credential.ts";
import { checkAccess } from "./credential-check.runner.ts";
import { dividedFields, sealedWith } from "./credential-fields.ts";
import { credentialPlace } from "./credential-place.ts";

const resourceOf = ({ id, name }: Credential) => ({ type: "credential", id, name });

export function credentialRoutes({ db, vault, clock }: Ports<"db" | "vault" | "clock">): Route[] {
  return [
    route(listCloudProviders, signedIn, async () => ({
      data: [...CLOUD_PROVIDERS],
      total_count: CLOUD_PROVIDERS.length,
    })),

    route(listCredentials, at(orgPlace, "admin"), async ({ org, query }) => {
      const { credentials, total } = await listCredentialRows(db, org.id, pageOf(query));
      return envelope(credentials.map(wireCredential), total, query);
    }),

    route(createCredential, at(orgPlace, "admin"), async ({ org, body, change }) =>
      change(async ({ db: tx, record }) => {
        const id = newId();
        const now = clock();
        const fields = credentialFieldsOf(body.provider);
        const { settings, secrets } = dividedFields(fields, body);
        const credential: Credential = {
          id,
          org_id: org.id,
          name: body.name,
          provider: body.provider,
          region: body.region ?? null,
          settings,
          sealed_secret: sealedWith({ id, sealed_secret: null }, fields, secrets, vault),
          created_at: now,
          updated_at: now,
        };
        await insertCredential(tx, credential);
        record({
          action: "credential.create",
          resource: resourceOf(credential),
          orgId: org.id,
          changes: auditedCredential(body.provider, body),
        });
        return wireCredential(credential);
      }),
    ),

    route(getCredential, at(credentialPlace, "org_admin"), async ({ cloudCredential }) =>
      wireCredential(cloudCredential),
    ),

    route(updateCredential, at(credentialPlace, "org_admin"), async ({ cloudCredential: { id }, body, change }) =>
      change(async ({ db: tx, record }) => {
        const before = await lockCredential(tx, id);
        const foreign = foreignFields(before.provider, body);
        if (foreign) throw foreign;
        const fields = credentialFieldsOf(before.provider);
        const { settings, secrets } = dividedFields(fields, body);
        const credential: Credential = {
          ...before,
          name: body.name ?? before.name,
          region: body.region ?? before.region,
          settings: { ...before.settings, ...settings },
          sealed_secret: sealedWith(before, fields, secrets, vault),
          updated_at: clock(),
        };
        await updateCredentialRow(tx, credential);
        record({
          action: "credential.update",
          resource: resourceOf(credential),
          orgId: credential.org_id,
          changes: auditedCredential(before.provider, body),
          before: wireCredential(before),
        });
        return wireCredential(credential);
      }),
    ),

    route(deleteCredential, at(credentialPlace, "org_admin"), async ({ cloudCredential: { id }, change }) =>
      change(async ({ db: tx, record }) => {
        const credential = await lockCredential(tx, id);
        await deleteCredentialRow(tx, id);
        record({ action: "credential.delete", resource: resourceOf(credential), orgId: credential.org_id });
        return null;
      }),
    ),
  ];
}

export function credentialCheckRoutes({
  db,
  vault,
  clock,
  clouds,
}: Ports<"db" | "vault" | "clock" | "clouds">): Route[] {
  return [
    route(
      checkCredential,
      at(credentialPlace, "org_admin"),
      async ({ cloudCredential: credential, caller, change, reply }) => {
        const { org_id, provider, region } = credential;
        const cloud = clouds[provider];
        if (!cloud) throw comingSoon(provider);
        const opened = openedFor(credential, region, vault);
        if ("lacks" in opened) throw lacking(opened.lacks);
        await requireRoomForCheck({ db, clock }, "credential checks", caller.id);
        const leaving = new AbortController();
        reply.raw.once("close", () => leaving.abort());
        const found = await checkAccess(cloud, opened.access, leaving.signal, reply.log);
        const check = wireCheck(found, clock());
        return change(async ({ record }) => {
          const changes = { ok: check.ok, error_code: check.error?.code ?? null };
          record({ action: "credential.check", resource: resourceOf(credential), orgId: org_id, changes });
          return check;
        });
      },
    ),
  ];
}
