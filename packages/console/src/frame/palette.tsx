import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ENTRIES } from "./navigation.ts";
import { useAccess, useMay } from "./org.tsx";
import { useOrgs } from "./org-switcher.tsx";

export const openPalette = (): void => spotlight.open();

/** Ctrl/Cmd+K: go to any page or object by name. */
export function Palette() {
  const [typed, setTyped] = useState("");
  const navigate = useNavigate();
  const may = useMay();
  const access = useAccess();
  const orgs = useOrgs();
  const { org: slug } = useParams({ strict: false });
  const org = orgs.data?.find((each) => each.slug === slug) ?? orgs.data?.[0];

  const go = (to: string) => () => void navigate({ to });
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
  const shown = pages.filter(({ label }) => label?.toLowerCase().includes(typed.trim().toLowerCase()));
  return (
    <Spotlight
      query={typed}
      onQueryChange={setTyped}
      shortcut="mod + K"
      // The server has searched already.
      filter={(_query, actions) => actions}
      actions={[{ group: "Pages", actions: shown }]}
      nothingFound={"Nothing has this name."}
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
