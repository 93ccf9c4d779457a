import type { Metrics } from "@binnacle/contract";
import { sql } from "kysely";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import { type MetricsRequest, noOperatorConnected, type OperatorRequests } from "../hub/operator-requests.ts";
import { type StoredSample, sampleSeries, startOfRange } from "./series.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly operators: Pick<OperatorRequests, "metrics">;
}

const noSamples = () => new Fault("unavailable", "Nothing on the cluster has been measured yet.");

/**
 * Returns series from the cluster itself where Prometheus runs there, otherwise from the stored samples, which are
 * available without an operator too.
 */
export async function metricsOf(
  { db, clock, operators }: Ports,
  request: MetricsRequest,
): Promise<Omit<Metrics, "range">> {
  const found = await fromOperator(operators, request);
  if (found.metrics) return found.metrics;
  const samples = await readSamples(db, request, startOfRange(clock(), request.rangeSeconds));
  if (samples.length === 0) throw found.isConnected ? noSamples() : noOperatorConnected();
  return sampleSeries(samples, request.app?.name ?? null);
}

async function fromOperator(operators: Ports["operators"], request: MetricsRequest) {
  try {
    return { isConnected: true, metrics: await operators.metrics(request) };
  } catch (error) {
    if (error instanceof Fault && error.kind === "unavailable") return { isConnected: false, metrics: null };
    throw error;
  }
}

async function readSamples(db: Queries, { clusterId, app }: MetricsRequest, since: Date): Promise<StoredSample[]> {
  const { rows } = await sql<StoredSample>`
    select at, sample->'used' as used, sample->'capacity' as capacity,
      case when ${app?.name ?? null}::text is null then '[]'::jsonb else jsonb_path_query_array(
        sample->'components', '$[*] ? (@.namespace == $namespace && @.app == $app)',
        jsonb_build_object('namespace', ${app?.namespace ?? null}::text, 'app', ${app?.name ?? null}::text)
      ) end as components
    from metric_samples where cluster_id = ${clusterId} and at >= ${since} order by at
  `.execute(db);
  return rows;
}
