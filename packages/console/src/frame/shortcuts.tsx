import { Kbd, Table } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Dialog } from "../components/dialog.tsx";
import { ENTRIES } from "./navigation.ts";
import { useCurrentOrg } from "./org-switcher.tsx";

const SEQUENCE_MS = 1_000;
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>("[data-filter]");
  if (!filter) return;
  event.preventDefault();
  filter.focus();
}

/** `g` and a letter go to a page, `/` to the filter of the page, and `?` shows this list. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const org = useCurrentOrg()?.slug;

  useEffect(() => {
    let began = 0;
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - began < SEQUENCE_MS;
      began = event.key === "g" ? event.timeStamp : 0;
      if (event.key === "?") setOpen(true);
      if (event.key === "/") focusFilter(event);
      const entry = isSecond ? ENTRIES.find(({ key }) => key === event.key) : undefined;
      if (entry && org) void navigate({ to: `/o/${org}/${entry.to}` });
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, org]);

  const rows: readonly (readonly [string, string])[] = [
    ["Ctrl K", "Search, and go to anything"],
    ["/", "Filter the list"],
    ["?", "Show the shortcuts"],
    ...ENTRIES.map(({ key, label }) => [`g ${key}`, `Go to ${label.toLowerCase()}`] as const),
  ];
  return (
    <Dialog opened={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <Table>
        <Table.Tbody>
          {rows.map(([keys, words]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}
