import { Unauthenticated } from "@binnacle/client";
import { Center, Loader, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { onlineManager, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { LoginPage } from "../account/login-page.tsx";
import { retryDelayMs } from "../api/failure.ts";
import { followEvents } from "../api/live.runner.ts";
import { client, session } from "../api/session.adapter.ts";
import { FailurePanel } from "../components/loaded.tsx";
import { SessionEnded } from "./session-ended.tsx";

/**
 * Shows the console to somebody who is signed in, and the sign-in otherwise, at whatever address. The address stays, so that a
 * link opens after the sign-in. A sign-out removes everything that was read. A session that the server has ended leaves the page
 * as it is, out of reach, until the same person signs in again.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const cache = useQueryClient();
  const failure = useFirstAnswer(cache);

  useEffect(() => {
    if (state === "signed_in") return followEvents(cache);
    if (state === "ended") return pauseReads(cache);
    if (state === "signed_out") {
      cache.clear();
      notifications.clean();
    }
    return undefined;
  }, [state, cache]);

  if (state === "signed_out") return <LoginPage />;
  if (state !== "starting")
    return (
      <>
        {children}
        {state === "ended" ? <SessionEnded /> : null}
      </>
    );
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack align="center" maw={560}>
        {failure ? <FailurePanel error={failure} isRepeated /> : null}
        <Loader aria-label="Loading" />
      </Stack>
    </Center>
  );
}

/** Without a session each read would be refused. What was refused or missed meanwhile is read when there is one again. */
function pauseReads(cache: QueryClient): () => void {
  onlineManager.setOnline(false);
  return () => {
    onlineManager.setOnline(navigator.onLine);
    void cache.invalidateQueries();
  };
}

/** Asks whether the cookie still holds a session until the server has said so. Returns why it has not yet. */
function useFirstAnswer(cache: QueryClient): unknown {
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    async function ask(failures: number): Promise<void> {
      try {
        cache.setQueryData(["getMe", {}], await client.call("getMe"));
      } catch (error) {
        if (error instanceof Unauthenticated) return session.left();
        // Once there is a session, the pages ask for what they need themselves.
        if (isLeft || session.state !== "starting") return;
        setFailure(error);
        timer = setTimeout(() => void ask(failures + 1), retryDelayMs(failures));
      }
    }
    void ask(0);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [cache]);
  return failure;
}
