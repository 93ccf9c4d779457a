import { Button, Group } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { retryDelayMs } from "../api/failure.ts";
import { ButtonLink } from "../components/links.tsx";
import { LoadingLines } from "../components/loaded.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { isNotLoaded } from "./not-loaded.ts";
import { type Served, servedNow } from "./served.adapter.ts";

/** Stands in the place of a page that cannot be shown. The frame around it stays, so that people can go elsewhere. */
export function PageFailure({ error }: ErrorComponentProps) {
  if (isNotLoaded(error)) return <NotLoaded />;
  return (
    <Page title="This page could not be shown">
      <EmptyState
        title="Something went wrong in the console"
        action={
          <Group justify="center">
            <ButtonLink variant="default" to="/">
              To the overview
            </ButtonLink>
            <Reload />
          </Group>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </EmptyState>
    </Page>
  );
}

const Reload = () => <Button onClick={() => location.reload()}>Reload</Button>;

/** A part of the console did not come. Only the server knows whether that is because there is another version of it. */
function NotLoaded() {
  const served = useServed();
  if (served === null)
    return (
      <Page title="Loading">
        <LoadingLines lines={6} />
      </Page>
    );
  if (served === "away")
    return (
      <Page title="The server cannot be reached">
        <EmptyState title="The server cannot be reached">
          This page has not been opened in this tab before, so it has to come from the server. It opens by itself when
          the server answers.
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Reload the page">
      {served === "updated" ? (
        <EmptyState title="Binnacle was updated: reload the page" action={<Reload />}>
          This part of the console belongs to another version than what is open in this tab.
        </EmptyState>
      ) : (
        <EmptyState title="This part of the console could not be loaded" action={<Reload />}>
          The server answers, and its version is the one of this tab.
        </EmptyState>
      )}
    </Page>
  );
}

/** What the server says about its console. While it is away it is asked again, and the page is loaded as soon as it answers. */
function useServed(): Served | null {
  const [served, setServed] = useState<Served | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    async function ask(failures: number): Promise<void> {
      const answer = await servedNow();
      if (isLeft) return;
      // What was not loaded because the server was away comes with the page.
      if (failures > 0 && answer !== "away") return location.reload();
      setServed(answer);
      if (answer === "away") timer = setTimeout(() => void ask(failures + 1), retryDelayMs(failures));
    }
    void ask(0);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, []);
  return served;
}
