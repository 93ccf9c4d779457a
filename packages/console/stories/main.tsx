import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "../src/main.css";
import { Anchor, Box, MantineProvider, Stack, Title } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { OrgProvider } from "../src/frame/org.tsx";
import { theme, variables } from "../src/theme.ts";
import { answerCalls } from "./answers.ts";
import { ORG, STORIES } from "./stories.tsx";

answerCalls();

/** One story by its name in the address, or links to all of them. */
function Page() {
  const name = new URLSearchParams(location.search).get("story");
  const story = STORIES.find((each) => each.name === name);
  return (
    <OrgProvider value={ORG}>
      <Box component="main" p="md" data-stories={STORIES.map((each) => each.name).join("\n")}>
        <Title order={1} mb="md">
          {story?.name ?? "Components"}
        </Title>
        {story ? (
          story.render()
        ) : (
          <Stack gap={4}>
            {STORIES.map((each) => (
              <Anchor key={each.name} href={`?story=${encodeURIComponent(each.name)}`}>
                {each.name}
              </Anchor>
            ))}
          </Stack>
        )}
      </Box>
    </OrgProvider>
  );
}

const cache = new QueryClient({ defaultOptions: { queries: { retry: false }, mutations: { retry: false } } });
const router = createRouter({ routeTree: createRootRoute({ component: Page, notFoundComponent: Page }) });
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <Notifications />
        <QueryClientProvider client={cache}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
