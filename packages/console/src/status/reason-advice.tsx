import { Code } from "@mantine/core";
import { adviceParts, asksForAction } from "./reason.ts";

/** What the reason of a phase means, what to do about it, and its name, by which people search for it. */
export function ReasonAdvice({ reason, message }: { readonly reason: string | null; readonly message: string | null }) {
  if (!asksForAction(reason)) return null;
  return (
    <>
      {adviceParts(reason, message).map((part, at) => (at % 2 === 1 ? <Code key={at}>{part}</Code> : part))}{" "}
      <Code>{reason}</Code>
    </>
  );
}
