import {
  ActionIcon,
  AppShell,
  Breadcrumbs,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure, useLocalStorage } from "@mantine/hooks";
import {
  IconApps,
  IconBook2,
  IconBox,
  IconChevronLeft,
  IconChevronRight,
  IconFolders,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLogout,
  IconMoon,
  IconPackages,
  IconPlugConnected,
  type IconProps,
  IconSearch,
  IconServer2,
  IconSettings,
  IconShieldCog,
  IconSun,
  IconTemplate,
  IconUser,
  IconUsers,
} from "@tabler/icons-react";
import { Link, Outlet, useLocation, useNavigate, useRouterState } from "@tanstack/react-router";
import { type ComponentType, memo, type ReactNode, Suspense, useEffect, useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { session } from "../api/session.adapter.ts";
import { LoadingLines } from "../components/loaded.tsx";
import { ConnectionIndicator } from "./connection-indicator.tsx";
import { ContractBanner } from "./contract-banner.tsx";
import { useDocumentation } from "./documentation.runner.ts";
import { Logo } from "./logo.tsx";
import { type Crumb, crumbsOf, NAVIGATION } from "./navigation.ts";
import { useAccess, useIsAccessKnown, useMay } from "./org.tsx";
import { OrgSwitcher, useCurrentOrg } from "./org-switcher.tsx";
import { openPalette, Palette } from "./palette.tsx";
import { Shortcuts } from "./shortcuts.tsx";

const ICONS: Readonly<Record<string, ComponentType<IconProps>>> = {
  overview: IconLayoutDashboard,
  apps: IconApps,
  projects: IconFolders,
  clusters: IconServer2,
  templates: IconTemplate,
  addons: IconPlugConnected,
  bundles: IconPackages,
  members: IconUsers,
  credentials: IconKey,
  audit: IconHistory,
  settings: IconSettings,
};

/**
 * The frame of every page: navigation on the left, breadcrumb, search, connection and user above. It does not read the address
 * itself, so that only the parts that do are drawn again on the way from page to page.
 */
export function Shell() {
  const [isDrawerOpen, drawer] = useDisclosure();
  const [isNarrow, setNarrow] = useLocalStorage({ key: "binnacle-narrow-navigation", defaultValue: false });
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: isNarrow ? 68 : 232, breakpoint: "sm", collapsed: { mobile: !isDrawerOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger opened={isDrawerOpen} onClick={drawer.toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Link to="/" aria-label="Binnacle, to the overview" style={{ display: "flex" }}>
              <Logo />
            </Link>
            <Crumbs />
          </Group>
          <Group gap={6} wrap="nowrap">
            <SearchButton />
            <ConnectionIndicator />
            <ThemeButton />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Navigation isNarrow={isNarrow && !isDrawerOpen} onPage={drawer.close} />
        <Group visibleFrom="sm" justify={isNarrow ? "center" : "flex-end"}>
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={() => setNarrow(!isNarrow)}
            aria-label={isNarrow ? "Widen the navigation" : "Narrow the navigation"}
          >
            {isNarrow ? <IconChevronRight size={18} aria-hidden /> : <IconChevronLeft size={18} aria-hidden />}
          </ActionIcon>
        </Group>
      </AppShell.Navbar>
      <Main />
      <Palette />
      <Shortcuts />
    </AppShell>
  );
}

function Main() {
  // The page before stays on screen until the next one is loaded.
  const isLoading = useRouterState({ select: (state) => state.isLoading });
  return (
    <AppShell.Main aria-busy={isLoading}>
      <ContractBanner />
      <Suspense fallback={<LoadingLines lines={6} />}>
        <Outlet />
      </Suspense>
    </AppShell.Main>
  );
}

function Crumbs() {
  const { pathname: path } = useLocation();
  return (
    <Breadcrumbs separator="/" visibleFrom="xs" separatorMargin={6} style={{ minWidth: 0, flexWrap: "nowrap" }}>
      {crumbsOf(path).map(({ label, to, object }) =>
        object ? (
          <NameOf key={object.id} object={object}>
            {(name) => <CrumbText label={name} to={to} />}
          </NameOf>
        ) : (
          <CrumbText key={label} label={label} to={to} />
        ),
      )}
    </Breadcrumbs>
  );
}

function CrumbText({ label, to }: Pick<Crumb, "label" | "to">) {
  // The line height of breadcrumbs would cut off the lower part of letters.
  const style = { size: "sm", lh: 1.5, truncate: true, maw: 320 } as const;
  if (to === null) return <Text {...style}>{label}</Text>;
  return (
    <Text {...style} c="dimmed" renderRoot={(props) => <Link {...props} to={to} />}>
      {label}
    </Text>
  );
}

/** The page of the object reads the same, so that this asks for nothing more. */
function NameOf(props: {
  readonly object: NonNullable<Crumb["object"]>;
  readonly children: (name: string) => ReactNode;
}) {
  const { read, id } = props.object;
  return props.children(useRead(read, { id }).data?.name ?? "…");
}

function SearchButton() {
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="md"
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          <Text size="xs" c="dimmed">
            Ctrl K
          </Text>
        }
        onClick={openPalette}
        w={220}
        fw={400}
        c="dimmed"
        styles={{ label: { flex: 1 } }}
      >
        Search
      </Button>
      <ActionIcon variant="subtle" color="gray" hiddenFrom="md" onClick={openPalette} aria-label="Search">
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
    </>
  );
}

/** It says when another page is shown, so that a drawer in which it stands can be closed. */
function Navigation({ isNarrow, onPage }: { readonly isNarrow: boolean; readonly onPage: () => void }) {
  const may = useMay();
  const access = useAccess();
  const isKnown = useIsAccessKnown();
  const org = useCurrentOrg();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is about the address alone.
  useEffect(() => onPage(), [pathname]);
  const place = { orgId: org?.id };
  return (
    <>
      <OrgSwitcher current={org} isNarrow={isNarrow} />
      <AppShell.Section grow component={ScrollArea} mt="xs">
        <nav aria-label="Main">
          {/* Entries that come one after the other would move each other. */}
          {org && isKnown
            ? NAVIGATION.map((group, index) => (
                <div key={group[0]?.to} style={{ marginTop: index > 0 ? 16 : 0 }}>
                  {group
                    .filter(({ needs }) => may(needs, place))
                    .map(({ label, to, icon }) => (
                      <Entry
                        key={to}
                        label={label}
                        to={`/o/${org.slug}/${to}`}
                        icon={ICONS[icon] ?? IconBox}
                        isActive={pathname.split("/")[3] === to}
                        isNarrow={isNarrow}
                      />
                    ))}
                </div>
              ))
            : null}
          <div style={{ marginTop: 16 }}>
            {access.is_superuser ? (
              <Entry
                label="Administration"
                to="/admin"
                icon={IconShieldCog}
                isActive={pathname.startsWith("/admin")}
                isNarrow={isNarrow}
              />
            ) : null}
          </div>
        </nav>
      </AppShell.Section>
    </>
  );
}

interface EntryProps {
  readonly label: string;
  readonly to: string;
  readonly icon: ComponentType<IconProps>;
  readonly isActive: boolean;
  readonly isNarrow: boolean;
}

const Entry = memo((props: EntryProps) => {
  const { label, to, icon: Icon, isActive, isNarrow } = props;
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <NavLink
        label={isNarrow ? undefined : label}
        aria-label={label}
        aria-current={isActive ? "page" : undefined}
        active={isActive}
        leftSection={<Icon size={18} aria-hidden />}
        styles={{
          root: { borderRadius: "var(--mantine-radius-sm)" },
          section: { marginInlineEnd: isNarrow ? 0 : undefined },
        }}
        renderRoot={(given) => <Link {...given} to={to} />}
      />
    </Tooltip>
  );
});

function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Colour scheme">
          {colorScheme === "dark" ? <IconMoon size={18} aria-hidden /> : <IconSun size={18} aria-hidden />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(["light", "dark", "auto"] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} fw={colorScheme === scheme ? 600 : 400}>
            {{ light: "Light", dark: "Dark", auto: "As the system" }[scheme]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function UserMenu() {
  const me = useRead("getMe", {});
  const navigate = useNavigate();
  const [opened, setOpened] = useState(false);
  const hasDocumentation = useDocumentation(me.data?.is_superuser ?? false, opened);
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Your account">
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.data?.email ?? "Signed in"}</Menu.Label>
        <Menu.Item leftSection={<IconUser size={16} aria-hidden />} onClick={() => void navigate({ to: "/account" })}>
          Account
        </Menu.Item>
        {hasDocumentation ? (
          <Menu.Item
            leftSection={<IconBook2 size={16} aria-hidden />}
            component="a"
            href="/docs"
            target="_blank"
            rel="noopener noreferrer"
          >
            API documentation
          </Menu.Item>
        ) : null}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void session.signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
