import { EXEC_CHANNELS, EXEC_CLOSE, EXEC_LIMITS, type TerminalSize } from "@binnacle/contract";
import { codedConflict, type Fault, notFound } from "../fault.ts";
import type { AppWithSecretPaths } from "./app.ts";

type ExecApp = Pick<AppWithSecretPaths, "name" | "phase" | "components">;

/** Why no command may run in a component, now or any longer. */
export function execProblem(app: ExecApp, component: string, isEnabled: boolean): Fault | null {
  if (!app.components.some(({ name }) => name === component)) return notFound(`Component ${component}`);
  if (app.phase === "deleting") return codedConflict("app_deleting", `The app ${app.name} is being deleted.`);
  if (isEnabled) return null;
  return codedConflict(
    "exec_disabled",
    "Commands in containers are switched off for this cluster. An administrator of the organization can switch them on with `exec_enabled` in the cluster's settings.",
  );
}

export type ClientFrame =
  | { readonly input: Buffer }
  | { readonly size: TerminalSize }
  | { readonly end: true }
  | { readonly problem: string };

/** Reads a frame of a client. A problem quotes nothing of the frame. */
export function readClientFrame(data: Buffer, isBinary: boolean): ClientFrame {
  if (!isBinary) return { problem: "Frames are binary, not text." };
  const channel = data[0];
  const content = data.subarray(1);
  if (channel === EXEC_CHANNELS.stdin) return content.length === 0 ? { end: true } : { input: content };
  if (channel !== EXEC_CHANNELS.resize) return { problem: "A frame begins with the channel 0 or 4." };
  const size = sizeOf(content);
  return size ? { size } : { problem: "A size is JSON with cols and rows, both from 1 to 1000." };
}

const LARGEST_SIZE_BYTES = 100;

function sizeOf(content: Buffer): TerminalSize | null {
  if (content.length > LARGEST_SIZE_BYTES) return null;
  try {
    const { cols, rows } = JSON.parse(content.toString("utf8")) as TerminalSize;
    return [cols, rows].every((side) => Number.isInteger(side) && side >= 1 && side <= 1_000) ? { cols, rows } : null;
  } catch {
    return null;
  }
}

/** A frame to a client. */
export const serverFrame = (channel: "stdout" | "stderr" | "exit", content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(EXEC_CHANNELS[channel]), content]);

/** Why a session has ended. They are in the audit log. */
export type ExecReason =
  | "exited"
  | "failed"
  | "client_closed"
  | "client_lost"
  | "protocol_error"
  | "idle"
  | "too_long"
  | "credential_ended"
  | "access_lost"
  | "app_gone"
  | "exec_disabled"
  | "operator_lost"
  | "server_stopping";

/** The close frame of each reason; null where the client is gone. */
const CLOSINGS: Readonly<Record<ExecReason, readonly [code: number, text: string] | null>> = {
  exited: [EXEC_CLOSE.exited, "The command has ended."],
  failed: [EXEC_CLOSE.failed, "The command could not be run."],
  client_closed: null,
  client_lost: null,
  protocol_error: [EXEC_CLOSE.protocolError, "A frame is malformed."],
  idle: [EXEC_CLOSE.idle, `Neither input nor output for ${EXEC_LIMITS.idleMs / 60_000} minutes.`],
  too_long: [EXEC_CLOSE.tooLong, `A session ends after ${EXEC_LIMITS.longestMs / 3_600_000} hours.`],
  credential_ended: [EXEC_CLOSE.credentialEnded, "The token has expired, or its session has ended. Sign in again."],
  access_lost: [EXEC_CLOSE.accessLost, "You may no longer do this."],
  app_gone: [EXEC_CLOSE.appGone, "The app or the component is being deleted."],
  exec_disabled: [EXEC_CLOSE.disabled, "Commands in containers were switched off for this cluster."],
  operator_lost: [EXEC_CLOSE.operatorLost, "The connection of the cluster's operator was lost."],
  server_stopping: [EXEC_CLOSE.stopping, "The server is stopping."],
};

const LONGEST_REASON_BYTES = 123;

/** The code and reason of the close frame, whose size is limited. */
export function closingOf(reason: ExecReason, message?: string): readonly [code: number, text: string] | null {
  const closing = CLOSINGS[reason];
  if (!closing) return null;
  const text = message ?? closing[1];
  const isShort = Buffer.byteLength(text) <= LONGEST_REASON_BYTES;
  return [closing[0], isShort ? text : closing[1]];
}

/** The reason of a refusal that comes while a session is open. */
export const reasonOf = (fault: Fault): ExecReason =>
  (fault.detail as { readonly code?: string }).code === "exec_disabled" ? "exec_disabled" : "app_gone";
