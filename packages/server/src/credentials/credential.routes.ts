import {
  createCredential,
  deleteCredential,
  getCredential,
  listCredentials,
  updateCredential,
} from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
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
import { auditedCredential, type Credential, wireCredential } from "./credential.ts";

const resourceOf = ({ id, name }: Credential) => ({ type: "credential", id, name });
const placeOf = (id: string) => ({ table: "cloud_credentials", row: id, column: "sealed_secret" });

export function credentialRoutes(db: Queries, vault: Vault, clock: Clock): Route[] {
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
            sealed_secret: secret_access_key === undefined ? null : vault.seal(secret_access_key, placeOf(id)),
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
        const credential: Credential = {
          ...(await lockCredential(tx, id)),
          ...plain,
          ...(secret_access_key === undefined ? {} : { sealed_secret: vault.seal(secret_access_key, placeOf(id)) }),
          updated_at: clock(),
        };
        await updateCredentialRow(tx, credential);
        record({
          action: "credential.update",
          resource: resourceOf(credential),
          orgId: credential.org_id,
          changes: auditedCredential(body),
        });
        return wireCredential(credential);
      }),
    ),

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
