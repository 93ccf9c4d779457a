import type { AuditEntry, Input } from "@binnacle/client";
import { Button, Group, Menu, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { download } from "../components/download.adapter.ts";
import { FailurePanel } from "../components/loaded.tsx";
import { type AuditFilter, csvOf, jsonOf } from "./audit.ts";

export const inputOf = (orgId: string, filter: AuditFilter): Input<"listAuditLog"> => ({ id: orgId, ...filter });

/** More would take minutes, and hold the browser's memory; a narrower time gets the rest. */
const MOST_EXPORTED = 20_000;

/** Reads everything that the filter leaves, and saves it as a file. */
export function AuditExport(props: { readonly orgId: string; readonly slug: string; readonly filter: AuditFilter }) {
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isCut, setCut] = useState(false);
  const leaving = useRef<AbortController | null>(null);

  async function run(kind: "csv" | "json"): Promise<void> {
    const stop = new AbortController();
    leaving.current = stop;
    setError(null);
    setCut(false);
    setCount(0);
    try {
      const entries: AuditEntry[] = [];
      const input = { ...inputOf(props.orgId, props.filter), items_per_page: 100 };
      for await (const entry of client.pages("listAuditLog", input, { signal: stop.signal })) {
        if (entries.push(entry) % 100 === 0) setCount(entries.length);
        if (entries.length >= MOST_EXPORTED) {
          setCut(true);
          break;
        }
      }
      const name = `audit-${props.slug}.${kind}`;
      if (kind === "csv") download(name, csvOf(entries), "text/csv;charset=utf-8");
      else download(name, jsonOf(entries), "application/json");
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure);
    } finally {
      setCount(null);
    }
  }

  return (
    <Stack gap="xs" align="flex-end">
      {count === null ? (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void run("csv")}>As CSV</Menu.Item>
            <Menu.Item onClick={() => void run("json")}>As JSON</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : (
        <Group gap="xs" role="status">
          <Text size="sm">{count.toLocaleString()} entries read</Text>
          <Button variant="default" onClick={() => leaving.current?.abort()}>
            Cancel
          </Button>
        </Group>
      )}
      {isCut ? (
        <Text size="xs" c="var(--tone-warning)" role="status">
          The file has the newest {MOST_EXPORTED.toLocaleString()} entries. Narrow the time for the others.
        </Text>
      ) : null}
      {error ? <FailurePanel error={error} /> : null}
    </Stack>
  );
}
