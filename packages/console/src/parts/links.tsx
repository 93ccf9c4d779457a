import { Anchor, Button, type ButtonProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Search } from "../search.ts";

interface Target {
  readonly to: string;
  readonly search?: Search;
  readonly children: ReactNode;
}

/** A link to another page in running text or in a cell. */
export function TextLink({ to, search = {}, children, isInText = false }: Target & { readonly isInText?: boolean }) {
  return (
    <Anchor
      size="sm"
      // Between words the colour alone does not tell a link.
      underline={isInText ? "always" : "hover"}
      renderRoot={(props) => <Link {...props} to={to} search={search as never} />}
    >
      {children}
    </Anchor>
  );
}

/** The link of a row in a list; the whole row can be clicked. */
export function RowLink({ to, search = {}, children }: Target) {
  return (
    <Anchor
      fw={600}
      size="sm"
      c="inherit"
      data-row-link
      renderRoot={(props) => <Link {...props} to={to} search={search as never} />}
    >
      {children}
    </Anchor>
  );
}

/** A button that leads to another page. */
export function ButtonLink({ to, search = {}, children, ...style }: Target & ButtonProps) {
  return (
    <Button {...style} renderRoot={(props) => <Link {...props} to={to} search={search as never} />}>
      {children}
    </Button>
  );
}
