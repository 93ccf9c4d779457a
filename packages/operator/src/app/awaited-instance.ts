/** What is known of an addon instance that an app names and nobody sees. */
export interface UnseenInstance {
  /** The cluster has stored it, and whoever follows such things is a moment behind. */
  readonly isHeld: boolean;
  /** The hub has told all that was wanted when it told of the app. */
  readonly isAllTold: boolean;
  /** It was found missing before, with the app as it is now: a new session does not make that doubtful again. */
  readonly wasMissing: boolean;
}

/** Whether to wait for it; otherwise the app is invalid. */
export const mayStillCome = ({ isHeld, isAllTold, wasMissing }: UnseenInstance): boolean =>
  isHeld || !(isAllTold || wasMissing);
