import { useMemo, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { useFollowed } from "../streams/follow.runner.ts";

/** More lines than this make a page slow; the end is what people look at. */
const MOST_LINES = 5_000;
const NOTHING = { lines: [] as readonly string[], cut: 0 };

/** Follows the output of a job. Another attempt of the job, which has ended its output once, opens it again. */
export function useJobLog(jobId: string, attempts: number) {
  const [{ lines, cut }, setShown] = useState(NOTHING);
  const followed = useFollowed<"getProvisioningLogs">(
    `${jobId} ${attempts}`,
    (options) => client.stream("getProvisioningLogs", { id: jobId }, options),
    {
      append: (items) =>
        setShown((before) => {
          const all = [...before.lines, ...items.flatMap((item) => ("line" in item ? [item.line] : []))];
          return { lines: all.slice(-MOST_LINES), cut: before.cut + Math.max(0, all.length - MOST_LINES) };
        }),
      begin: () => setShown(NOTHING),
    },
  );
  return { ...followed, cut, text: useMemo(() => lines.join("\n"), [lines]) };
}
