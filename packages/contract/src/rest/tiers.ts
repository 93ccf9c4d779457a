import Type from "typebox";
import { DisplayName, Nullable, Page, PageQuery, ReadName, strict, Timestamp, Uuid, Whole } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Rate limits";
const tierParams = Type.Object({ tier_name: Type.String({ minLength: 1, maxLength: 50, examples: ["free"] }) });
const limitParams = Type.Object({ ...tierParams.properties, id: Uuid() });

const fields = {
  path: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[!-~]+$",
    description: "Relative to the base URL. A slash is put before a path that begins with none.",
    allOf: [
      {
        description: "A path has at most 500 characters with the slash at its beginning",
        anyOf: [{ pattern: "^/" }, { maxLength: 499 }],
      },
    ],
    examples: ["/tasks/task"],
  }),
  limit: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "Requests.", examples: [10] }),
  period: Type.Integer({ minimum: 1, maximum: 31_536_000, description: "Seconds.", examples: [3600] }),
  name: DisplayName("tasks per hour"),
};

export const Tier = Type.Object(
  { name: Type.String({ examples: ["free"] }), created_at: Timestamp(), updated_at: Timestamp() },
  { title: "Tier" },
);

export const RateLimit = Type.Object(
  {
    id: Uuid(),
    tier: Type.String({ examples: ["free"] }),
    ...fields,
    name: Nullable(ReadName("tasks per hour")),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "RateLimit" },
);

export const listTiers = operation({
  id: "listTiers",
  method: "GET",
  path: "/tiers",
  tag,
  summary: "List the tiers",
  credentials: "user",
  success: [200, Whole(Tier)],
});

export const createRateLimit = operation({
  id: "createRateLimit",
  method: "POST",
  path: "/tier/{tier_name}/rate_limit",
  tag,
  summary: "Limit a path for a tier; superuser only",
  credentials: "user",
  params: tierParams,
  body: Type.Object({ ...fields, name: Type.Optional(fields.name) }, strict),
  success: [201, RateLimit],
  failures: [403, 404, 409],
});

export const listRateLimits = operation({
  id: "listRateLimits",
  method: "GET",
  path: "/tier/{tier_name}/rate_limits",
  tag,
  summary: "List a tier's limits",
  credentials: "user",
  params: tierParams,
  query: PageQuery,
  success: [200, Page(RateLimit)],
  failures: [404],
});

export const getRateLimit = operation({
  id: "getRateLimit",
  method: "GET",
  path: "/tier/{tier_name}/rate_limit/{id}",
  tag,
  summary: "Read one limit",
  credentials: "user",
  params: limitParams,
  success: [200, RateLimit],
  failures: [404],
});

export const updateRateLimit = operation({
  id: "updateRateLimit",
  method: "PATCH",
  path: "/tier/{tier_name}/rate_limit/{id}",
  tag,
  summary: "Change one limit; superuser only",
  description: "Fields left out stay; a `name` of null is taken away.",
  credentials: "user",
  params: limitParams,
  body: Type.Partial(Type.Object({ ...fields, name: Nullable(fields.name) }), strict),
  success: [200, RateLimit],
  failures: [403, 404, 409],
});

export const deleteRateLimit = operation({
  id: "deleteRateLimit",
  method: "DELETE",
  path: "/tier/{tier_name}/rate_limit/{id}",
  tag,
  summary: "Lift one limit; superuser only",
  credentials: "user",
  params: limitParams,
  success: [204, null],
  failures: [403, 404],
});
