import Type from "typebox";

/** A parameter of changes that can be tried. */
export const dryRun = {
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Makes every check and changes nothing: the answer is the app as it would be, without an `ETag`, or the refusal. It leaves no audit entry, revision or event.",
    }),
  ),
};
