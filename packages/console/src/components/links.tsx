import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { Link, useRouter } from "@tanstack/react-router";
import type { MouseEvent, PointerEvent, ReactNode } from "react";
import { parseSearch, type Search, stringifySearch } from "../search.ts";
import classes from "./links.module.css";

interface Target {
  readonly to: string;
  readonly search?: Search;
  readonly children: ReactNode;
}

/** A link to another page in running text or in a cell. */
export function TextLink({
  to,
  search = {},
  children,
  isInText = false,
  ...style
}: Target & AnchorProps & { readonly isInText?: boolean; readonly "aria-label"?: string }) {
  return (
    <Anchor
      size="sm"
      // Between words the colour alone does not tell a link.
      underline={isInText ? "always" : "hover"}
      {...style}
      renderRoot={(props) => <Link {...props} to={to} search={search as never} />}
    >
      {children}
    </Anchor>
  );
}

/**
 * The link of a row in a list; the whole row can be clicked. It is a plain element, because a list has many of them. The
 * list takes its clicks by `useRowLinks`.
 */
export function RowLink({ to, search = {}, children }: Target) {
  return (
    <a href={to + stringifySearch(search)} className={classes.rowLink} data-row-link>
      {children}
    </a>
  );
}

/** What a list needs on the element around its rows, so that their links change the page without a reload. */
export function useRowLinks() {
  const router = useRouter();
  return {
    onClick(event: MouseEvent<HTMLElement>): void {
      // React passes on clicks in menus and dialogs that belong to a row, although they stand elsewhere in the document.
      const target = event.target as Element;
      if (event.defaultPrevented || event.button !== 0 || !event.currentTarget.contains(target)) return;
      const link = target.closest("a");
      const { ctrlKey, metaKey, shiftKey, altKey } = event;
      if (link === null) {
        // What has a text on hover lies above the link that covers the row, and stands for it.
        if (target.closest("button, input, label") || !target.closest("[title]")) return;
        const above = target.closest("[role=row]")?.querySelector("[data-row-link]");
        above?.dispatchEvent(
          new globalThis.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
        );
      } else if (!(ctrlKey || metaKey || shiftKey || altKey || link.target) && link.origin === location.origin) {
        event.preventDefault();
        void router.navigate({ href: link.pathname + link.search });
      }
    },
    /** All rows lead to the same page; it is loaded when the pointer is on its way to one. */
    onPointerEnter(event: PointerEvent<HTMLElement>): void {
      const link = event.currentTarget.querySelector<HTMLAnchorElement>("a[data-row-link]");
      if (link) void router.preloadRoute({ to: link.pathname, search: parseSearch(link.search) as never });
    },
  };
}

/** A button that leads to another page. */
export function ButtonLink({ to, search = {}, children, ...style }: Target & ButtonProps) {
  return (
    <Button {...style} renderRoot={(props) => <Link {...props} to={to} search={search as never} />}>
      {children}
    </Button>
  );
}
