import { listAuditLog } from "@binnacle/contract";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { orgAdmin } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { listAudit } from "./audit.store.ts";
import { wireAuditEntry } from "./audit.ts";

export function auditRoutes(db: Queries): Route[] {
  return [
    route(
      listAuditLog,
      orgAdmin(({ params }) => params.id),
      async ({ org, query }) => {
        const [rows, total] = await Promise.all([
          listAudit(db, org.id, pageOf(query)),
          totalRows(db, "audit_log", org.id),
        ]);
        return envelope(rows.map(wireAuditEntry), total, query);
      },
    ),
  ];
}
