import { Box, Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import type { Search } from "../search.ts";
import { usePageSearch } from "./use-search.tsx";

export interface PageTab {
  readonly key: string;
  readonly label: string;
  readonly render: () => ReactNode;
}

/** A link may open a tab that a narrow window would not show. */
const scrollIntoView = (tab: HTMLElement | null) => tab?.scrollIntoView({ block: "nearest", inline: "nearest" });

/** The tabs of a page. The chosen one is in the address; the first one is not, so that addresses stay short. */
export function PageTabs(props: {
  readonly tabs: readonly PageTab[];
  /** What else in the address belongs to a tab, and goes with it. */
  readonly resets?: Search;
}) {
  const { tabs, resets = {} } = props;
  const [search, choose] = usePageSearch();
  const [first] = tabs;
  const current = tabs.find(({ key }) => key === search["tab"]) ?? first;
  if (!current) return null;
  return (
    <Tabs
      value={current.key}
      onChange={(key) => choose({ ...resets, tab: key === first?.key || key === null ? undefined : key })}
      keepMounted={false}
    >
      {/* Narrow windows scroll the tabs sideways instead of stacking them. */}
      <Box mb="md" style={{ overflowX: "auto", overflowY: "hidden" }}>
        <Tabs.List style={{ flexWrap: "nowrap", minWidth: "max-content" }}>
          {tabs.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key} ref={key === current.key ? scrollIntoView : undefined}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Box>
      {tabs.map(({ key, render }) => (
        <Tabs.Panel key={key} value={key}>
          {key === current.key ? render() : null}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
