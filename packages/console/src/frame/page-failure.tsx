import { Button, Group } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ButtonLink } from "../components/links.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { isOutdatedPage } from "./outdated-page.ts";

/** Stands in the place of a page that cannot be shown. The frame around it stays, so that people can go elsewhere. */
export function PageFailure({ error }: ErrorComponentProps) {
  const reload = <Button onClick={() => location.reload()}>Reload</Button>;
  if (isOutdatedPage(error))
    return (
      <Page title="Reload the page">
        <EmptyState title="Binnacle was updated: reload the page" action={reload}>
          This part of the console could not be loaded. It belongs to another version than what is open in this tab, or
          the server cannot be reached.
        </EmptyState>
      </Page>
    );
  return (
    <Page title="This page could not be shown">
      <EmptyState
        title="Something went wrong in the console"
        action={
          <Group justify="center">
            <ButtonLink variant="default" to="/">
              To the overview
            </ButtonLink>
            {reload}
          </Group>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </EmptyState>
    </Page>
  );
}
