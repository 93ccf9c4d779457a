import { Alert } from "@mantine/core";
import { useRef } from "react";
import { useRead } from "../api/queries.runner.ts";
import { contractNotice } from "./contract.ts";

/** An upgrade is noticed this soon by a page that stays open. */
const CHECKED_EVERY_MS = 5 * 60_000;

export function ContractBanner() {
  const version = useRead("getVersion", {}, { refetchMs: CHECKED_EVERY_MS });
  const first = useRef<number | null>(null);
  const now = version.data?.contract ?? null;
  first.current ??= now;
  const notice = contractNotice(first.current, now);
  return notice === null ? null : (
    <Alert color="yellow" mb="md" role="status">
      {notice}
    </Alert>
  );
}
