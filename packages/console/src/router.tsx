import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from "@tanstack/react-router";
import { Loaded } from "./components/loaded.tsx";
import { EmptyState, Page } from "./components/page.tsx";
import { withoutReload } from "./frame/not-loaded.ts";
import { OrgProvider } from "./frame/org.tsx";
import { useCurrentOrg, useOrgs } from "./frame/org-switcher.tsx";
import { PageFailure } from "./frame/page-failure.tsx";
import { Shell } from "./frame/shell.tsx";
import { parseSearch, type Search, searchOf, stringifySearch } from "./search.ts";

/** Everything that a page lets people choose is in the address; pages read it by `Route.useSearch()`. */
const root = createRootRoute({
  component: Shell,
  validateSearch: (given): Search => searchOf(given),
  notFoundComponent: () => (
    <Page title="Not found">
      <EmptyState title="There is no such page">Check the address, or use the navigation.</EmptyState>
    </Page>
  ),
});

const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });
const login = createRoute({ getParentRoute: () => root, path: "login", component: () => <Navigate to="/" replace /> });
const org = createRoute({ getParentRoute: () => root, path: "o/$org", component: OrgPages });

/** People begin with the organization that the tab has shown last, or with their first one. */
function Home() {
  const orgs = useOrgs();
  const current = useCurrentOrg();
  return (
    <Loaded of={orgs}>
      {() =>
        current ? (
          <Navigate to="/o/$org/overview" params={{ org: current.slug }} replace />
        ) : (
          <Page title="Welcome">
            <EmptyState title="You belong to no organization yet">
              Ask an administrator of your organization to add you as a member, with your email address.
            </EmptyState>
          </Page>
        )
      }
    </Loaded>
  );
}

function OrgPages() {
  const { org: slug } = org.useParams();
  const orgs = useOrgs();
  return (
    <Loaded of={orgs}>
      {(all) => {
        const found = all.find((each) => each.slug === slug);
        return found ? (
          <OrgProvider value={found} key={found.id}>
            <Outlet />
          </OrgProvider>
        ) : (
          <Page title="Not found">
            <EmptyState title={`There is no organization ${slug}`}>
              It does not exist, or you do not belong to it.
            </EmptyState>
          </Page>
        );
      }}
    </Loaded>
  );
}

/** A page is loaded when somebody goes there. */
const lazyPage = (load: () => Promise<Record<string, unknown>>, name: string) =>
  lazyRouteComponent((() => withoutReload(load())) as never, name as never);

const page = <const P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({ getParentRoute: () => org, path, component: lazyPage(load, name) });

const orgPages = [
  createRoute({ getParentRoute: () => org, path: "/", component: () => <Navigate to="/" replace /> }),
  page("overview", () => import("./overview/overview-page.tsx"), "OverviewPage"),
  page("apps", () => import("./apps/apps-page.tsx"), "AppsPage"),
  page("apps/new", () => import("./apps/create/create-app-page.tsx"), "CreateAppPage"),
  page("apps/$namespace/$name", () => import("./apps/app-page.tsx"), "AppPage"),
  page("projects", () => import("./projects/projects-page.tsx"), "ProjectsPage"),
  page("projects/$id", () => import("./projects/project-page.tsx"), "ProjectPage"),
  page("clusters", () => import("./clusters/clusters-page.tsx"), "ClustersPage"),
  page("clusters/new", () => import("./clusters/register-page.tsx"), "RegisterPage"),
  page("clusters/$id", () => import("./clusters/cluster-page.tsx"), "ClusterPage"),
  page("clusters/$id/jobs/$jobId", () => import("./clusters/job-page.tsx"), "JobPage"),
  page("templates", () => import("./templates/templates-page.tsx"), "TemplatesPage"),
  page("templates/new", () => import("./templates/create-template-page.tsx"), "CreateTemplatePage"),
  page("templates/$namespace/$name", () => import("./templates/template-page.tsx"), "TemplatePage"),
  page("addons", () => import("./addons/addons-page.tsx"), "AddonsPage"),
  page("addons/$id", () => import("./addons/addon-page.tsx"), "AddonPage"),
  page("bundles", () => import("./clusters/bundles-page.tsx"), "BundlesPage"),
  page("members", () => import("./organization/members-page.tsx"), "MembersPage"),
  page("credentials", () => import("./organization/credentials-page.tsx"), "CredentialsPage"),
  page("audit", () => import("./organization/audit-page.tsx"), "AuditPage"),
  page("settings", () => import("./organization/settings-page.tsx"), "SettingsPage"),
];

const outside = [
  createRoute({
    getParentRoute: () => root,
    path: "account",
    component: lazyPage(() => import("./account/account-page.tsx"), "AccountPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "device",
    component: lazyPage(() => import("./account/device-page.tsx"), "DevicePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "admin",
    component: lazyPage(() => import("./administration/administration-page.tsx"), "AdministrationPage"),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren([home, login, ...outside, org.addChildren(orgPages)]),
  defaultPreload: "intent",
  // Without it a failure would take the place of the frame too.
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
