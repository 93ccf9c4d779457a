import { BadSelector } from "../../store/selectors.ts";
import { ApiFault } from "../fault.ts";
import { internal } from "../fault-of.ts";
import { UnidentifiedElement } from "../fields/list-step.ts";
import { PatchFailed } from "../patch/json-patch.ts";
import { type ApiResponse, json } from "./message.ts";

/** A refusal as an object of the kind `Status`. */
export function statusOf({ code, reason, message, details }: ApiFault) {
  const { name, ...rest } = details ?? {};
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details ? { details: { ...(name ? { name } : {}), ...rest } } : {}),
    code,
  };
}

/** Whatever went wrong, in the words of Kubernetes. */
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
