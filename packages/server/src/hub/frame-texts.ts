import { isSafeText, type OperatorFrame } from "@binnacle/contract";

type Text = string | null | undefined;

/** Where a frame has a text for people that must not be shown to them; null where all is well. */
export function unsafeText(frame: OperatorFrame): string | null {
  for (const [place, text] of textsOf(frame)) {
    if (typeof text === "string" && !isSafeText(text)) return place;
  }
  return null;
}

/** Log lines are not among them: they are shown as what they are, the output of somebody's program. */
function textsOf(frame: OperatorFrame): readonly (readonly [string, Text])[] {
  switch (frame.type) {
    case "nack":
      return [["message", frame.message]];
    case "status":
      return reportTexts(frame.report);
    case "response":
      return "error" in frame.answer ? [["error", frame.answer.error.message]] : [];
    case "stream_end":
      return [["error", frame.error]];
    case "build":
      return [
        ["message", frame.message],
        ["reason", frame.reason],
      ];
    case "ack":
    case "heartbeat":
    case "hello":
    case "inventory":
    case "samples":
    case "stream_data":
    case "token_stored":
      return [];
  }
}

function reportTexts(report: object): readonly (readonly [string, Text])[] {
  const { message, reason, drift } = report as { message?: Text; reason?: Text; drift?: { summary?: Text } };
  return [
    ["message", message],
    ["reason", reason],
    ["drift summary", drift?.summary],
  ];
}
