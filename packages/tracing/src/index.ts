export { openTracer, type TracerOptions } from "./otlp.adapter.ts";
export type { Attributes, Span, SpanOptions, Tracer } from "./tracer.ts";
export { TRACES_ENDPOINT } from "./variables.ts";
