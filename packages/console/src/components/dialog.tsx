import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useRef } from "react";

/** A modal dialog. When it closes, what opened it has the focus again, also where the dialog is taken away whole. */
export function Dialog(props: ModalProps) {
  useFocusReturn(props.opened);
  return <Modal {...props} returnFocus={false} />;
}

function useFocusReturn(isOpen: boolean): void {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  // It is read while rendering, because the menu with the entry that opened the dialog may go in the same commit.
  if (isOpen && !wasOpen.current) opener.current = openerOf(document.activeElement);
  wasOpen.current = isOpen;
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      // The dialog has let go of the focus only after this commit. Somebody who has moved on meanwhile is left alone.
      setTimeout(() => {
        const { activeElement } = document;
        if (!activeElement || activeElement === document.body || activeElement.closest("[role=dialog]"))
          opener.current?.focus({ preventScroll: true });
      });
    };
  }, [isOpen]);
}

/** What has the focus; of a menu, which closes by itself, the button that it belongs to. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest("[role=menu]");
  const found = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
  return found instanceof HTMLElement ? found : null;
}
