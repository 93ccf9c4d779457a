import {
  createRateLimit,
  deleteRateLimit,
  getRateLimit,
  listRateLimits,
  listTiers,
  updateRateLimit,
} from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { signedIn, superuser } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import {
  deleteLimit,
  findLimit,
  findTier,
  insertLimit,
  listLimits,
  listTierRows,
  lockLimit,
  updateLimit,
} from "./tier.store.ts";
import { normalisePath, type StoredLimit, wireLimit, wireTier } from "./tier.ts";

const resourceOf = (limit: StoredLimit) => ({
  type: "rate_limit",
  id: limit.id,
  name: `${limit.tier_name} ${limit.path}`,
});

interface LimitParams {
  readonly tier_name: string;
  readonly id: string;
}

async function requireTier(db: Queries, name: string): Promise<void> {
  if (!(await findTier(db, name))) throw notFound("Tier");
}

async function knownLimit(db: Queries, find: typeof findLimit, params: LimitParams): Promise<StoredLimit> {
  await requireTier(db, params.tier_name);
  const limit = await find(db, params.tier_name, params.id);
  if (!limit) throw notFound("Rate limit");
  return limit;
}

export function tierRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(listTiers, signedIn, async () => {
      const data = (await listTierRows(db)).map(wireTier);
      return { data, total_count: data.length };
    }),

    route(createRateLimit, superuser, async ({ params, body, change }) =>
      change(async ({ db: tx, record }) => {
        await requireTier(tx, params.tier_name);
        const now = clock();
        const limit: StoredLimit = {
          id: newId(),
          tier_name: params.tier_name,
          path: normalisePath(body.path),
          limit_count: body.limit,
          period_seconds: body.period,
          name: body.name ?? null,
          created_at: now,
          updated_at: now,
        };
        await insertLimit(tx, limit);
        record({
          action: "rate_limit.create",
          resource: resourceOf(limit),
          orgId: null,
          changes: { ...body, path: limit.path },
        });
        return wireLimit(limit);
      }),
    ),

    route(listRateLimits, signedIn, async ({ params, query }) => {
      await requireTier(db, params.tier_name);
      const { limits, total } = await listLimits(db, params.tier_name, pageOf(query));
      return envelope(limits.map(wireLimit), total, query);
    }),

    route(getRateLimit, signedIn, async ({ params }) => wireLimit(await knownLimit(db, findLimit, params))),

    route(updateRateLimit, superuser, async ({ params, body, change }) =>
      change(async ({ db: tx, record }) => {
        const current = await knownLimit(tx, lockLimit, params);
        const changes = body.path === undefined ? body : { ...body, path: normalisePath(body.path) };
        const changed: StoredLimit = {
          ...current,
          path: changes.path ?? current.path,
          limit_count: changes.limit ?? current.limit_count,
          period_seconds: changes.period ?? current.period_seconds,
          name: changes.name === undefined ? current.name : changes.name,
          updated_at: clock(),
        };
        await updateLimit(tx, changed);
        const resource = resourceOf(changed);
        record({ action: "rate_limit.update", resource, orgId: null, changes, before: wireLimit(current) });
        return wireLimit(changed);
      }),
    ),

    route(deleteRateLimit, superuser, async ({ params, change }) =>
      change(async ({ db: tx, record }) => {
        const limit = await knownLimit(tx, lockLimit, params);
        await deleteLimit(tx, limit.id);
        record({ action: "rate_limit.delete", resource: resourceOf(limit), orgId: null });
        return null;
      }),
    ),
  ];
}
