import type { PriceEstimate } from "@binnacle/contract";
import type { AwsCluster } from "./aws.ts";
import prices from "./aws-prices.json" with { type: "json" };

const HOURS = 730;

/** Within a family the price goes with the size; the table has that of `large`. */
const SIZES: Readonly<Record<string, number>> = {
  nano: 1 / 16,
  micro: 1 / 8,
  small: 1 / 4,
  medium: 1 / 2,
  large: 1,
  xlarge: 2,
  "2xlarge": 4,
  "4xlarge": 8,
  "8xlarge": 16,
  "12xlarge": 24,
  "16xlarge": 32,
  "24xlarge": 48,
};
/** Burstable families end where the others begin. */
const isSold = (family: string, size: string) => {
  const factor = SIZES[size] ?? 0;
  return family.startsWith("t") ? factor <= 4 : factor >= 1;
};

interface RegionPrices {
  readonly gp3_gb_month: number;
  readonly large_hour: Readonly<Record<string, number | undefined>>;
}
const REGIONS: Readonly<Record<string, RegionPrices | undefined>> = prices.regions;

export function estimate(
  wanted: Pick<AwsCluster, "region" | "instanceType" | "diskSizeGb" | "agentCount">,
): PriceEstimate {
  const count = wanted.agentCount + 1;
  const region = Object.hasOwn(REGIONS, wanted.region) ? REGIONS[wanted.region] : undefined;
  const hour = region ? hourlyPrice(region, wanted.instanceType) : null;
  const items = [
    { name: wanted.instanceType, count, monthly: hour === null ? null : cents(hour * HOURS * count) },
    {
      name: `gp3 disk of ${wanted.diskSizeGb} GB`,
      count,
      monthly: region ? cents(region.gp3_gb_month * wanted.diskSizeGb * count) : null,
    },
    { name: "public IPv4 address", count, monthly: cents(prices.public_address_hour * HOURS * count) },
  ];
  return {
    monthly: items.reduce<number | null>(
      (sum, { monthly }) => (sum === null || monthly === null ? null : cents(sum + monthly)),
      0,
    ),
    currency: prices.currency,
    prices_of: prices.date,
    note: noteFor(wanted, region !== undefined, hour !== null),
    items,
  };
}

function hourlyPrice(region: RegionPrices, instanceType: string): number | null {
  const [family = "", size = ""] = instanceType.split(".");
  const large = Object.hasOwn(region.large_hour, family) ? region.large_hour[family] : undefined;
  const factor = Object.hasOwn(SIZES, size) ? SIZES[size] : undefined;
  return large === undefined || factor === undefined || !isSold(family, size) ? null : large * factor;
}

const BASIS =
  "An estimate by list prices of Linux machines on demand, without traffic, taxes, discounts, and without what Kubernetes " +
  "adds, such as load balancers and volumes.";

function noteFor(wanted: Pick<AwsCluster, "region" | "instanceType">, knowsRegion: boolean, knowsType: boolean) {
  if (!knowsRegion) return `The price table has no prices of the region ${wanted.region}. ${BASIS}`;
  if (!knowsType) return `The price table has no price of ${wanted.instanceType} in ${wanted.region}. ${BASIS}`;
  return BASIS;
}

const cents = (amount: number) => Math.round(amount * 100) / 100;
