import type { Organization } from "@binnacle/client";
import { Avatar, Group, Menu, Text, UnstyledButton } from "@mantine/core";
import { useLocalStorage, useSessionStorage } from "@mantine/hooks";
import { IconSelector } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { currentOrg } from "./current-org.ts";
import { useAccess, useIsAccessKnown } from "./org.tsx";

const MOST_SHOWN = 100;
const REMEMBERED = { key: "binnacle-organization", defaultValue: "", getInitialValueInEffect: false };

/** The organizations of the caller, and the one of the address where a superuser looks at that of others. */
export function useOrgs() {
  const { data: own, ...query } = useRead("listOrgs", { items_per_page: MOST_SHOWN });
  const { org: slug } = useParams({ strict: false });
  const { is_superuser } = useAccess();
  const isAccessKnown = useIsAccessKnown();
  const isOwn = slug === undefined || own?.data.some((org) => org.slug === slug) === true;
  const all = useAll("listOrgs", { all: true }, own !== undefined && !isOwn && is_superuser);
  const isKnown = isOwn || (isAccessKnown && !(is_superuser && all.isPending));
  const others = isOwn ? [] : (all.data ?? []).filter((org) => org.slug === slug);
  return { ...query, data: own && isKnown ? [...own.data, ...others] : undefined };
}

/** The organization to which the navigation leads. Each tab has its own, and a new one begins with the one that was shown last in any. */
export function useCurrentOrg(): Organization | undefined {
  const { data } = useOrgs();
  const { org: slug } = useParams({ strict: false });
  const [last, setLast] = useSessionStorage(REMEMBERED);
  const [lastInAny, setLastInAny] = useLocalStorage({ ...REMEMBERED, sync: false });
  const current = currentOrg(data ?? [], slug, last || lastInAny);
  const shown = current?.slug === slug ? slug : undefined;
  useEffect(() => {
    if (shown === undefined) return;
    setLast(shown);
    setLastInAny(shown);
  }, [shown, setLast, setLastInAny]);
  return current;
}

export function OrgSwitcher({
  current,
  isNarrow,
}: {
  readonly current: Organization | undefined;
  readonly isNarrow: boolean;
}) {
  const orgs = useOrgs();
  const navigate = useNavigate();
  return (
    <Menu width={240} position="bottom-start">
      <Menu.Target>
        <UnstyledButton p={6} aria-label={`Organization ${current?.name ?? ""}, change it`} style={{ borderRadius: 8 }}>
          <Group gap="xs" wrap="nowrap" justify={isNarrow ? "center" : "flex-start"}>
            <Avatar size={28} radius="sm" color="navy" name={current?.name ?? ""} aria-hidden />
            {isNarrow ? null : (
              <>
                <Text size="sm" fw={600} truncate style={{ flex: 1 }}>
                  {current?.name ?? "No organization"}
                </Text>
                <IconSelector size={16} aria-hidden />
              </>
            )}
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah={400} style={{ overflowY: "auto" }}>
        <Menu.Label>Organizations</Menu.Label>
        {(orgs.data ?? []).map(({ id, name, slug }) => (
          <Menu.Item
            key={id}
            fw={id === current?.id ? 600 : 400}
            onClick={() => void navigate({ to: `/o/${slug}/overview` })}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
