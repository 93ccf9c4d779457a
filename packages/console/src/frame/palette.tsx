import type { Answer } from "@binnacle/client";
import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { addonAddress, appAddress, clusterAddress, projectAddress, templateAddress } from "../components/addresses.ts";
import { ENTRIES } from "./navigation.ts";
import { useAccess, useMay } from "./org.tsx";
import { useCurrentOrg } from "./org-switcher.tsx";

const [store, { open }] = createSpotlight();
export const openPalette = open;
const LIST_ID = "palette-results";

type Result = Answer<"search">["results"][number];

const KINDS: Readonly<Record<Result["kind"], string>> = {
  app: "App",
  project: "Project",
  cluster: "Cluster",
  stack_template: "Template",
  addon_instance: "Addon",
};

/** Where a search result is shown. */
function addressOf(org: string, { kind, id, name, namespace, project_id }: Result): string {
  switch (kind) {
    case "app":
      return `${appAddress(org, { namespace: namespace ?? "", name })}?project=${project_id ?? ""}`;
    case "project":
      return projectAddress(org, id);
    case "cluster":
      return clusterAddress(org, id);
    case "stack_template":
      return templateAddress(org, namespace ?? "", name);
    case "addon_instance":
      return addonAddress(org, id);
  }
}

/** The library marks the chosen entry in the document, so the mark goes with its element when other results come. */
function chooseFirst(): void {
  const entries = document.querySelectorAll(`#${LIST_ID} [data-action]`);
  for (const entry of entries) entry.removeAttribute("data-selected");
  entries[0]?.setAttribute("data-selected", "true");
  store.updateState((state) => ({ ...state, selected: 0 }));
}

/** Ctrl/Cmd+K: go to any page or object by name. */
export function Palette() {
  const [typed, setTyped] = useState("");
  const [asked] = useDebouncedValue(typed.trim().slice(0, 100), 150);
  const navigate = useNavigate();
  const may = useMay();
  const access = useAccess();
  const org = useCurrentOrg();
  // A list that vanished between two letters would lose the entry that somebody has just chosen.
  const found = useRead(
    "search",
    { q: asked || "-", ...(org ? { org_id: org.id } : {}) },
    { enabled: asked !== "", keepEarlier: true },
  );

  const go = (href: string) => () => void navigate({ href });
  const pages: SpotlightActionData[] = org
    ? ENTRIES.filter(({ needs }) => may(needs, { orgId: org.id })).map(({ label, to }) => ({
        id: `page-${to}`,
        label,
        description: `Go to ${label.toLowerCase()}`,
        onClick: go(`/o/${org.slug}/${to}`),
      }))
    : [];
  if (access.is_superuser) pages.push({ id: "page-admin", label: "Administration", onClick: go("/admin") });
  pages.push({ id: "page-account", label: "Account", onClick: go("/account") });
  const objects: SpotlightActionData[] = org
    ? (found.data?.results ?? []).map((result) => ({
        id: `${result.kind}-${result.id}`,
        label: result.name,
        description: [KINDS[result.kind], result.namespace, result.detail].filter(Boolean).join(" · "),
        onClick: go(addressOf(org.slug, result)),
      }))
    : [];
  const shown = pages.filter(({ label }) => label?.toLowerCase().includes(asked.toLowerCase()));
  const groups = [
    { group: "Found", actions: asked ? objects : [] },
    { group: "Pages", actions: shown },
  ].filter(({ actions }) => actions.length > 0);
  const listed = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join(" ");
  useLayoutEffect(() => {
    if (asked && listed) chooseFirst();
  }, [asked, listed]);
  return (
    <Spotlight
      store={store}
      query={typed}
      onQueryChange={setTyped}
      shortcut="mod + K"
      // The server has searched already.
      filter={(_query, actions) => actions}
      actions={groups}
      scrollAreaProps={{ id: LIST_ID }}
      nothingFound={found.isFetching ? "Searching …" : "Nothing has this name."}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: "Apps, projects, clusters, templates, pages",
        "aria-label": "Search",
      }}
      scrollable
      maxHeight={420}
      clearQueryOnClose
    />
  );
}
