import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "./main.css";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { isTransient, retryDelayMs } from "./api/failure.ts";
import { SessionGate } from "./frame/session-gate.tsx";
import { router } from "./router.tsx";
import { theme, variables } from "./theme.ts";

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when an answer is out of date; see `api/live.ts`.
      staleTime: 30_000,
      // The client has tried again already. What is on screen is asked for again until the server is back.
      retry: (_failures, error) => isTransient(error),
      retryDelay: retryDelayMs,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager({ key: "binnacle-color-scheme" })}
      >
        <Notifications position="bottom-right" />
        <QueryClientProvider client={cache}>
          <SessionGate>
            <RouterProvider router={router} />
          </SessionGate>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
