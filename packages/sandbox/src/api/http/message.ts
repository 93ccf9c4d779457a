import { parse } from "yaml";
import type { SimulatedCommand } from "../../kubelet/shell.ts";
import { BadSelector } from "../../store/selectors.ts";
import { ApiFault, badRequest, internal } from "../fault.ts";
import { UnidentifiedElement } from "../fields/field-set.ts";
import { PatchFailed } from "../patch/json-patch.ts";

/** A request as the API reads it, however it has come. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query, not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Where an answer without an end goes. */
export interface Sink {
  write(text: string): void;
  end(): void;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of a body. Begins to write, and returns how to stop when nobody reads any more. */
  readonly stream?: (sink: Sink) => () => void;
  /** In place of a body, for a connection that becomes a WebSocket. */
  readonly command?: SimulatedCommand;
}

const JSON_TYPE = { "content-type": "application/json" };

export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiResponse => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(value),
});

export const text = (status: number, body: string): ApiResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body,
});

export const streaming = (stream: (sink: Sink) => () => void, type = "application/json"): ApiResponse => ({
  status: 200,
  headers: { "content-type": type },
  stream,
});

/** JSON, or YAML where somebody sends that. */
export function parsedBody(body: string, contentType = "", kind = "object"): unknown {
  if (body === "") return {};
  try {
    return JSON.parse(body);
  } catch {
    if (!contentType.includes("yaml")) throw unreadable(kind);
  }
  try {
    return parse(body);
  } catch {
    throw badRequest("error decoding YAML: the document cannot be read");
  }
}

const unreadable = (kind: string) =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error`,
  );

/** A refusal as an object of the kind `Status`. */
export function statusOf({ code, reason, message, details, continueToken }: ApiFault) {
  const { name, ...rest } = details ?? {};
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: continueToken === undefined ? {} : { continue: continueToken },
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details ? { details: { ...(name ? { name } : {}), ...rest } } : {}),
    code,
  };
}

/** Any error as a Kubernetes `Status`. */
function faultOf(error: unknown): ApiFault {
  if (error instanceof ApiFault) return error;
  if (error instanceof BadSelector) return new ApiFault(400, "BadRequest", error.message);
  if (error instanceof UnidentifiedElement) return new ApiFault(500, "", error.message);
  if (error instanceof PatchFailed) {
    return new ApiFault(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  return internal(error instanceof Error ? error.message : String(error));
}

export const refused = (error: unknown): ApiResponse => {
  const fault = faultOf(error);
  return json(fault.code, statusOf(fault));
};
