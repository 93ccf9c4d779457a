import { describe, expect, test } from "vitest";
import { DEFAULT_LIMIT, DEFAULT_TIER, SEEDED_TIERS, wireLimit, wireTier } from "./tier.ts";

const times = { created_at: new Date("2030-01-01T00:00:00Z"), updated_at: new Date("2030-01-02T00:00:00Z") };
const shown = { created_at: "2030-01-01T00:00:00.000Z", updated_at: "2030-01-02T00:00:00.000Z" };

describe("tiers", () => {
  test("[TI1] the tiers free and pro exist from the start, and free is the default", () => {
    expect(SEEDED_TIERS).toEqual(["free", "pro"]);
    expect(DEFAULT_TIER).toBe("free");
    expect(wireTier({ name: "free", ...times })).toEqual({ name: "free", ...shown });
  });

  test("[TI4] a limit on the wire has its tier, path, limit, period and name", () => {
    const id = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
    const stored = {
      id,
      tier_name: "pro",
      path: "/tasks/task",
      limit_count: 5,
      period_seconds: 60,
      name: null,
      ...times,
    };
    expect(wireLimit(stored)).toEqual({
      id,
      tier: "pro",
      path: "/tasks/task",
      limit: 5,
      period: 60,
      name: null,
      ...shown,
    });
  });

  test("[TI9] the default limit is ten requests an hour", () => {
    expect(DEFAULT_LIMIT).toEqual({ limit: 10, periodSeconds: 3600 });
  });
});
