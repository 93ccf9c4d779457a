import { EXPORTED_AFTER_SECONDS, exportAuditLog, listAuditLog, MOST_COUNTED } from "@binnacle/contract";
import { at } from "../http/guard.ts";
import { envelope, envelopeBehind, pageBehind } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import { type AuditFilter, countAudit, exportAudit, listAudit } from "./audit.store.ts";
import { wireAuditEntry } from "./audit.ts";

export function auditRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  const counted = async (orgId: string, filter: AuditFilter) => {
    const total = await countAudit(db, orgId, filter);
    const isCapped = total > MOST_COUNTED && Object.values(filter).some(Boolean);
    return { total_count: isCapped ? MOST_COUNTED : total, total_capped: isCapped };
  };
  return [
    route(listAuditLog, at(orgPlace, "admin"), async ({ org, query }) => {
      const { page: _page, items_per_page: _items, cursor: _cursor, ...filter } = query;
      const { limit, ...window } = pageBehind(query);
      const [rows, { total_count, total_capped }] = await Promise.all([
        listAudit(db, org.id, filter, { ...window, limit: limit + 1 }),
        counted(org.id, filter),
      ]);
      return { ...envelopeBehind(rows.map(wireAuditEntry), total_count, query), total_capped };
    }),

    route(
      exportAuditLog,
      at(orgPlace, "admin", ({ params }) => params.org_id),
      async ({ org, query }) => {
        const { cursor: _cursor, ...times } = query;
        const settled = new Date(clock().getTime() - EXPORTED_AFTER_SECONDS * 1_000);
        const { rows, isEnd } = await exportAudit(db, org.id, query, settled);
        const { total_count, total_capped } = await counted(org.id, times);
        const data = rows.map(wireAuditEntry);
        const cut = (kept: number) => ({
          ...envelope(data.slice(0, kept), total_count, {}),
          next_cursor: kept < data.length || !isEnd ? (data[kept - 1]?.id ?? null) : null,
        });
        return { ...cut(data.length), cut, total_capped };
      },
    ),
  ];
}
