import { listAuditLog } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { orgAdmin } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { countAudit, listAudit } from "./audit.store.ts";
import { wireAuditEntry } from "./audit.ts";

export function auditRoutes(db: Queries): Route[] {
  return [
    route(
      listAuditLog,
      orgAdmin(({ params }) => params.id),
      async ({ org, query }) => {
        const { page: _page, items_per_page: _items, ...filter } = query;
        const [rows, total] = await Promise.all([
          listAudit(db, org.id, filter, pageOf(query)),
          countAudit(db, org.id, filter),
        ]);
        return envelope(rows.map(wireAuditEntry), total, query);
      },
    ),
  ];
}
