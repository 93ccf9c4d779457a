import { type ReactNode, useDeferredValue } from "react";
import classes from "./later.module.css";

/**
 * Draws a field after the rest of the page, in steps between which the page answers to the keyboard and the mouse. Until then
 * an empty frame of the same size stands in its place. It is for fields that take long to be drawn, such as those with a list.
 */
export function Later({ width, children }: { readonly width: number; readonly children: ReactNode }) {
  const isTime = useDeferredValue(true, false);
  return isTime ? children : <div className={classes.frame} style={{ "--later-width": `${width}px` } as object} />;
}
