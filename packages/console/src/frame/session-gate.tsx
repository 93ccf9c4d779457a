import { Unauthenticated } from "@binnacle/client";
import { Center, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { LoginPage } from "../account/login-page.tsx";
import { followEvents } from "../api/live.runner.ts";
import { client, session } from "../api/session.adapter.ts";

/**
 * Shows the console to somebody who is signed in, and the sign-in otherwise, at whatever address. The address stays, so that a
 * link opens after the sign-in. The end of a session removes everything that was read.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const cache = useQueryClient();

  useEffect(() => {
    // The first request finds out whether the cookie still holds a session.
    client.call("getMe").then(
      (me) => cache.setQueryData(["getMe", {}], me),
      (error: unknown) => {
        if (error instanceof Unauthenticated) session.ended();
      },
    );
  }, [cache]);

  useEffect(() => {
    if (state !== "signed_in") return;
    const stop = followEvents(cache);
    return () => {
      stop();
      cache.clear();
    };
  }, [state, cache]);

  if (state === "signed_in") return children;
  if (state === "signed_out") return <LoginPage />;
  return (
    <Center h="100dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
