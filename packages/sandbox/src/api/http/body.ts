import { parse } from "yaml";
import { badRequest } from "../fault-of.ts";

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
