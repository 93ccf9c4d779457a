import type { IncomingHttpHeaders } from "node:http";
import type { Operation } from "@binnacle/contract";
import { Fault } from "../fault.ts";

/** An operation takes its body in one media type; the headers tell before the body has been read. */
export function refuseOtherMediaTypes(operation: Operation, headers: IncomingHttpHeaders): void {
  if (!operation.body) return;
  const taken = operation.bodyType ?? "application/json";
  const given = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? taken;
  if (given !== taken) throw new Fault("unsupported_media_type", `The request body must be ${taken}.`);
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new Fault("unsupported_media_type", "The request body must not be compressed.");
  }
}
