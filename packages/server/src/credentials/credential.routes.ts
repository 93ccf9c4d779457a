import {
  checkCredential,
  createCredential,
  deleteCredential,
  getCredential,
  listCredentials,
  updateCredential,
} from "@binnacle/contract";
import { secondsUntil } from "../accounts/device-login.ts";
import { countAttempt } from "../accounts/login-tally.store.ts";
import type { Clock } from "../clock.ts";
import type { CloudProviders } from "../cloud/provider.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { rateLimited } from "../fault.ts";
import { onCloudCredential, orgAdmin } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
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
  openedFor,
  secretPlaceOf,
  wireCheck,
  wireCredential,
} from "./credential.ts";
import { checkAccess } from "./credential-check.runner.ts";

const resourceOf = ({ id, name }: Credential) => ({ type: "credential", id, name });

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly clouds: CloudProviders;
}

export function credentialRoutes({ db, vault, clock, clouds }: Ports): Route[] {
  /** Every check makes many calls to the provider, so a person has as many as logins. */
  async function requireRoomForCheck(userId: string): Promise<void> {
    const now = clock();
    const key = `credential checks of ${userId}`;
    const refusedUntilMs = await inTransaction(db, (tx) => countAttempt(tx, [key], userId, now));
    if (refusedUntilMs !== null) throw rateLimited(secondsUntil(refusedUntilMs, now));
  }

  return [
    route(
      listCredentials,
      orgAdmin(({ params }) => params.id),
      async ({ org, query }) => {
        const { credentials, total } = await listCredentialRows(db, org.id, pageOf(query));
        return envelope(credentials.map(wireCredential), total, query);
      },
    ),

    route(
      createCredential,
      orgAdmin(({ params }) => params.id),
      async ({ org, body, change }) =>
        change(async ({ db: tx, record }) => {
          const id = newId();
          const now = clock();
          const { secret_access_key } = body;
          const credential: Credential = {
            id,
            org_id: org.id,
            name: body.name,
            provider: body.provider,
            region: body.region ?? null,
            access_key_id: body.access_key_id ?? null,
            sealed_secret: secret_access_key === undefined ? null : vault.seal(secret_access_key, secretPlaceOf(id)),
            created_at: now,
            updated_at: now,
          };
          await insertCredential(tx, credential);
          record({
            action: "credential.create",
            resource: resourceOf(credential),
            orgId: org.id,
            changes: auditedCredential(body),
          });
          return wireCredential(credential);
        }),
    ),

    route(getCredential, onCloudCredential(), async ({ cloudCredential }) => wireCredential(cloudCredential)),

    route(updateCredential, onCloudCredential(), async ({ cloudCredential: { id }, body, change }) =>
      change(async ({ db: tx, record }) => {
        const { secret_access_key, ...plain } = body;
        const before = await lockCredential(tx, id);
        const credential: Credential = {
          ...before,
          ...plain,
          ...(secret_access_key === undefined
            ? {}
            : { sealed_secret: vault.seal(secret_access_key, secretPlaceOf(id)) }),
          updated_at: clock(),
        };
        await updateCredentialRow(tx, credential);
        record({
          action: "credential.update",
          resource: resourceOf(credential),
          orgId: credential.org_id,
          changes: auditedCredential(body),
          before: wireCredential(before),
        });
        return wireCredential(credential);
      }),
    ),

    route(checkCredential, onCloudCredential(), async ({ cloudCredential: credential, caller, change, reply }) => {
      const { org_id, provider, region } = credential;
      const cloud = clouds[provider];
      const access = openedFor(credential, region, vault);
      if (!cloud || !access) throw comingSoon(provider);
      await requireRoomForCheck(caller.id);
      const leaving = new AbortController();
      reply.raw.once("close", () => leaving.abort());
      const found = await checkAccess(cloud, access, leaving.signal, reply.log);
      const check = wireCheck(found, clock());
      return change(async ({ record }) => {
        const changes = { ok: check.ok, error_code: check.error?.code ?? null };
        record({ action: "credential.check", resource: resourceOf(credential), orgId: org_id, changes });
        return check;
      });
    }),

    route(deleteCredential, onCloudCredential(), async ({ cloudCredential: { id }, change }) =>
      change(async ({ db: tx, record }) => {
        const credential = await lockCredential(tx, id);
        await deleteCredentialRow(tx, id);
        record({ action: "credential.delete", resource: resourceOf(credential), orgId: credential.org_id });
        return null;
      }),
    ),
  ];
}
