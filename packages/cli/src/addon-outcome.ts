import type { AddonInstance } from "@binnacle/client";
import { gone } from "./app-outcome.ts";
import { type Call, type Given, send } from "./command.ts";
import type { ExitCode } from "./host.ts";
import { type Started, settled } from "./outcome.ts";
import type { View } from "./output.ts";
import { componentLines, isReported, type Line, lastingTrouble, type Troubles, troublesOf } from "./progress.ts";

/** Waits until the newest revision of an addon instance is ready, unless told not to. */
export function addonWaited(
  call: Call,
  { id, name }: AddonInstance,
  options: Given["options"],
  view: View<AddonInstance>,
): Promise<ExitCode | undefined> {
  let troubles: Troubles = new Map();
  const comeBack = `binnacle addons wait ${name}`;
  const started: Started<AddonInstance> = {
    notYet: `${name} is not ready yet`,
    comeBack,
    goesOn: `${name} is still being installed.`,
    observe: () => send(call, "getAddonInstance", { id }),
    lines: addonLines,
    end(seen, nowMs) {
      troubles = troublesOf({ app: seen }, troubles, nowMs);
      if (!isReported(seen)) return null;
      if (seen.phase === "ready") return { done: `${name} is ready (revision ${seen.revision_number}).` };
      const trouble = lastingTrouble(seen, troubles, nowMs, null);
      if (seen.phase !== "failed" && trouble === null) return null;
      const cause = trouble ?? seen.phase_message ?? seen.phase_reason ?? "The cluster has not said why.";
      const isFirst = seen.revision_number === 1;
      return { cause: `${name}: ${cause}`, fix: `binnacle addons ${isFirst ? "show" : "rollback"} ${name}` };
    },
  };
  return settled(call, options, started, (seen) => call.show(view, seen));
}

function addonLines(it: AddonInstance): Line[] {
  const { name, phase, phase_reason: reason, phase_message: message } = it;
  const why = [reason, message].filter(Boolean).join(": ");
  const names = isReported(it) ? it.components_status.map((status) => status.name) : [];
  if (names.length > 0) return componentLines(it, names, "");
  return [{ mark: "·", tone: phase === "failed" ? "bad" : "warn", text: `${name}  ${phase}${why ? `  ${why}` : ""}` }];
}

export const addonGone = (call: Call, id: string, name: string, options: Given["options"]) =>
  gone(call, options, {
    name,
    comeBack: `binnacle addons show ${name}`,
    read: () => send(call, "getAddonInstance", { id }),
    phaseOf: ({ phase, phase_message }) => [phase, phase_message].filter(Boolean).join("  "),
  });
