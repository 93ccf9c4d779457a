import type { Place } from "../access/place.ts";
import { CREDENTIAL_COLUMNS, columnsOf } from "../database/columns.ts";
import type { Credential } from "./credential.ts";

/** Credentials exist for administrators of their organization only. */
export const credentialPlace: Place<"cloudCredential", Credential, string, "org_admin"> = {
  key: "cloudCredential",
  title: "Credential",
  table: "cloud_credentials",
  owners: { org: "org_id" },
  columns: columnsOf("p", CREDENTIAL_COLUMNS),
  requirement: () => ({ needs: "concealed_org_admin" }),
};
