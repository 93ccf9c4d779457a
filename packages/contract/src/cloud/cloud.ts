import Type, { type TString } from "typebox";

/** A field of a provider's credentials. All are texts, so that every form and every option can take them. */
export interface CloudField {
  readonly label: string;
  readonly schema: TString;
  /** Sealed and never read back. */
  readonly secret?: true;
  /** Stored as it is, and read back as its last characters. */
  readonly masked?: true;
  /** A text of several lines, such as a document. */
  readonly multiline?: true;
  /** A credential can do without it. It is never a secret: those of a credential are replaced together. */
  readonly optional?: true;
  /** What it is for, where the label does not say it. */
  readonly hint?: string;
}

/** What the API, the console and the command line have to know of a provider that clusters can be made at. */
export interface Cloud {
  readonly name: string;
  /** The fields that its credentials must have, in the order of a form. Its clusters have a region if `region` is one of them. */
  readonly fields: Readonly<Record<string, CloudField>>;
  /** The 422 of a credential that lacks one. */
  readonly needs: string;
  /** A field that is changed only with these others. */
  readonly together?: Readonly<Record<string, readonly string[]>>;
  /** Kinds of machines that suit most clusters, the smallest first; any other can be asked for. */
  readonly instance_types: readonly string[];
  /** The kind where none is asked for. */
  readonly default_instance_type: string;
}

export const Region = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[A-Za-z0-9-]+$",
  examples: ["eu-central-1"],
});

/** One line of visible ASCII, which is what providers issue. A key that is pasted with its line break is refused. */
export const KEY_CHARACTERS = "^[!-~]+$";

const SHOWN_CHARACTERS = 4;

/** Masks a text as `****MPLE`. A short one is hidden completely. */
export const maskedEnd = (text: string) =>
  text.length > SHOWN_CHARACTERS ? `****${text.slice(-SHOWN_CHARACTERS)}` : "****";
