import type { Env } from "@binnacle/process";
import type { Sampler as OtelSampler, Span as OtelSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Attributes, Span, Tracer } from "./tracer.ts";
import { delayMsOf, isSwitchedOff, type Sampling, samplingOf } from "./variables.ts";

interface TraceLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface TracerOptions {
  /** Null leaves tracing off. */
  readonly endpoint: string | null;
  /** The name of the program, unless `OTEL_SERVICE_NAME` gives another one. */
  readonly service: string;
  readonly version: string | null;
  /** Facts about this process that every span carries. */
  readonly attributes?: Attributes;
  readonly log: TraceLog;
  readonly env?: Env;
}

/** A stop waits no longer than this for a collector. */
const STOP_WITHIN_MS = 2_000;
/** Spans beyond these are dropped while the collector does not take any. */
const QUEUE = { maxQueueSize: 2_048, maxExportBatchSize: 512 };

/** Loads OpenTelemetry where tracing is on, and only there. It registers nothing globally: parents are passed on explicitly. */
export async function openTracer(options: TracerOptions): Promise<Tracer | null> {
  const { endpoint, env = process.env, log } = options;
  if (endpoint === null || isSwitchedOff(env)) return null;
  if (env["OTEL_EXPORTER_OTLP_PROTOCOL"] === "grpc") {
    log.warn({}, "gRPC is not offered: traces are sent as JSON over HTTP, which collectors take on another port");
  }
  const [api, core, resources, sdk, { OTLPTraceExporter }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/core"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const detectors = [resources.resourceAttributesEnvDetector, resources.serviceNameEnvDetector];
  const exporter = reporting(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), log, core.ExportResultCode);
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({
          "service.name": options.service,
          ...(options.version === null ? {} : { "service.version": options.version }),
          ...options.attributes,
        }),
      )
      .merge(resources.detectResources({ detectors })),
    sampler: samplerFor(sdk, samplingOf(env)),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, ...QUEUE, scheduledDelayMillis: delayMsOf(env) })],
  });
  const tracer = provider.getTracer("binnacle");
  log.info({ endpoint }, "traces are sent to a collector");

  function contextOf(parent: string | null | undefined) {
    const context = parent ? core.parseTraceParent(parent) : null;
    return context ? api.trace.setSpanContext(api.ROOT_CONTEXT, { ...context, isRemote: true }) : api.ROOT_CONTEXT;
  }

  const start: Tracer["start"] = (name, { kind = "internal", parent, attributes = {}, startedAtMs } = {}) => {
    const span = tracer.startSpan(
      name,
      {
        kind: kind === "server" ? api.SpanKind.SERVER : api.SpanKind.INTERNAL,
        attributes,
        ...(startedAtMs === undefined ? {} : { startTime: new Date(startedAtMs) }),
      },
      contextOf(parent),
    );
    return spanOf(span as OtelSpan, api.SpanStatusCode.ERROR, start);
  };
  return { start, stop: () => stopWithin(provider.shutdown()) };
}

function spanOf(span: OtelSpan, errorCode: 2, start: Tracer["start"]): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  return {
    traceparent,
    traceId,
    set: (attributes) => void span.setAttributes(attributes),
    child: (name, options) => start(name, { ...options, parent: traceparent }),
    end(failure = null) {
      if (failure !== null) span.setStatus({ code: errorCode, message: failure });
      span.end();
    },
  };
}

function samplerFor(sdk: typeof import("@opentelemetry/sdk-trace"), { sampler, isParentBased, ratio }: Sampling) {
  const roots: Record<Sampling["sampler"], () => OtelSampler> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[sampler]();
  return isParentBased ? new sdk.ParentBasedSampler({ root }) : root;
}

/**
 * Logs once when a collector stops taking spans, and once when it takes them again. Only the code of a failure is logged:
 * its message may quote headers or the collector's answer.
 */
function reporting(exporter: SpanExporter, log: TraceLog, code: { SUCCESS: 0; FAILED: 1 }): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code === code.FAILED;
        if (hasFailed && !isFailing) {
          const why = (result.error as { code?: unknown } | undefined)?.code ?? "unknown";
          log.warn({ code: why }, "the collector does not take traces; they are dropped until it does");
        } else if (!hasFailed && isFailing) {
          log.info({}, "the collector takes traces again");
        }
        isFailing = hasFailed;
        // The failure has been handled here. The SDK would pass it to a global handler.
        done({ code: code.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush ? { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() } : {}),
  };
}

async function stopWithin(stopped: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_WITHIN_MS);
  });
  await Promise.race([stopped.catch(() => undefined), deadline]);
  clearTimeout(timer);
}
