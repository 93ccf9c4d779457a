import { Unauthenticated } from "@binnacle/client";
import { Center, Loader, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { LoginPage } from "../account/login-page.tsx";
import { retryDelayMs } from "../api/failure.ts";
import { followEvents } from "../api/live.runner.ts";
import { client, session } from "../api/session.adapter.ts";
import { FailurePanel } from "../components/loaded.tsx";

/**
 * Shows the console to somebody who is signed in, and the sign-in otherwise, at whatever address. The address stays, so that a
 * link opens after the sign-in. The end of a session removes everything that was read.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const cache = useQueryClient();
  const failure = useFirstAnswer(cache);

  useEffect(() => {
    if (state !== "signed_in") return;
    const stop = followEvents(cache);
    return () => {
      stop();
      cache.clear();
      notifications.clean();
    };
  }, [state, cache]);

  if (state === "signed_in") return children;
  if (state === "signed_out") return <LoginPage />;
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack align="center" maw={560}>
        {failure ? <FailurePanel error={failure} isRepeated /> : null}
        <Loader aria-label="Loading" />
      </Stack>
    </Center>
  );
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
        if (error instanceof Unauthenticated) return session.ended();
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
