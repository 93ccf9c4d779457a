import Type, { type TSchema } from "typebox";

/**
 * Characters that nobody sees and that change how the rest is read: control characters, separators of lines, marks and
 * overrides of the writing direction, characters without a width, and fillers. Patterns are written for every client: the
 * ranges are written out because not every engine understands `\\p{…}`, and characters beyond U+00FF stand for themselves
 * because RE2 does not understand `\\u`. Characters that take two units are not in it, because the meaning of a class with
 * them depends on the flags of the engine: see `holdsTags`.
 */
const HIDDEN =
  "\\x00-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff";
const SPACES = " \\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000";

/**
 * Words with plain spaces between them: a name with another space, or one at its end, looks like another name. No two neighbouring
 * classes share a character, so a text is matched or refused in one pass.
 */
const NAME = `^[^${SPACES}${HIDDEN}]+( +[^${SPACES}${HIDDEN}]+)*$`;
const WORD = `^[^${SPACES}${HIDDEN}]+$`;
const LINE = `^[^${HIDDEN}]*$`;

/**
 * Returns whether the text holds tags (U+E0000 to U+E007F), which repeat ASCII invisibly, variation selectors beyond U+FFFF, or
 * other characters there that are never drawn. No pattern for every engine can say so; the server refuses them wherever one of
 * these patterns applies.
 */
export const holdsTags = (text: string): boolean =>
  /[\u{e0000}-\u{e0fff}]|[\u{1bca0}-\u{1bca3}]|[\u{1d173}-\u{1d17a}]|[\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u.test(
    text,
  );

const NOTHING_HIDDEN =
  "no control characters, line breaks, zero-width characters, tags, variation selectors or marks of the writing direction";

/** Descriptions of patterns for error messages, for patterns that people cannot read. */
export const PATTERN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  [NAME]: `Input should begin and end with a visible character, and have no spaces but the plain one, and ${NOTHING_HIDDEN}`,
  [WORD]: `Input should be one word, with ${NOTHING_HIDDEN}`,
  [LINE]: `Input should have ${NOTHING_HIDDEN}`,
};

/** The canonical form of a UUID. Neither braces nor `urn:uuid:` are accepted. */
export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A title names the parameter in the document, where another parameter of the same name is shared as well. */
export const Uuid = (description?: string, title?: string) =>
  Type.String({
    ...(title ? { title } : {}),
    format: "uuid",
    examples: ["01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"],
    ...(description ? { description } : {}),
  });

export const Timestamp = (description?: string) =>
  Type.String({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"], ...(description ? { description } : {}) });

/** The display name of an organization, a cluster, a credential, a user, a token or a program. */
export const DisplayName = (example: string, { minLength = 1, maxLength = 100 } = {}) =>
  Type.String({ minLength, maxLength, pattern: NAME, examples: [example] });

/** A display name in an answer. Names from before today's rules are read as they are. */
export const ReadName = (example: string) => Type.String({ examples: [example] });

/** A name without spaces, such as a tag. */
export const DisplayWord = (example: string, maxLength = 63) =>
  Type.String({ minLength: 1, maxLength, pattern: WORD, examples: [example] });

/** One line of display text. It may be empty. */
export const DisplayLine = (example: string, maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: LINE, description, examples: [example] });

/** A text to search for, as it is: no character of it has a meaning of its own. */
export const SearchText = (description: string) =>
  DisplayLine("shop", 100, `${description} Upper and lower case are the same.`);

/** A parameter of a query that may be repeated. */
export const severalOf = <const T extends string[]>(values: readonly [...T], description: string) =>
  Type.Array(Type.Enum(values), { maxItems: values.length, uniqueItems: true, description });

export const Description = Type.String({
  maxLength: 2000,
  description: "Free text.",
  examples: ["Everything that customers see."],
});

export const Email = Type.String({
  format: "email",
  maxLength: 254,
  examples: ["ada@example.com"],
});

export const Username = Type.String({ minLength: 2, maxLength: 20, pattern: "^[a-z0-9]+$", examples: ["ada"] });

export const Password = Type.String({ minLength: 8, maxLength: 128, examples: ["correct horse battery staple"] });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A map with arbitrary keys. A pattern over keys would not match a key with a line break, so there is none. */
export const AnyMap = (options: object) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, ...options }));

const MOST_KEYS = 1000;

/** A map with arbitrary keys and values, bounded in size. */
export const FreeMap = (options: object) => AnyMap({ maxProperties: MOST_KEYS, ...options });

/** Request bodies are strict: an unknown field is refused, not ignored. */
export const strict = { additionalProperties: false } as const;

/** A name that is used as the name of a Kubernetes object. */
export const DnsLabel = (example: string, maxLength = 63) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", examples: [example] });

const DNS_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** The name of an object of Kubernetes that may have dots, such as that of a class. */
export const DnsSubdomain = (example: string, description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: `^${DNS_NAME}(\\.${DNS_NAME})*$`,
    description,
    examples: [example],
  });

export const DEFAULT_ITEMS_PER_PAGE = 10;
export const MAX_ITEMS_PER_PAGE = 100;

/** The offset of this page is still an exact integer. A page past the end is empty and not an error. */
const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / 1_000);

/** Of the fields of a schema those with these names. */
export const pick = <T extends object, K extends keyof T>(fields: T, ...names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<T, K>;

export function pageFields(defaultItems = DEFAULT_ITEMS_PER_PAGE, maxItems = MAX_ITEMS_PER_PAGE) {
  return {
    page: Type.Integer({ minimum: 1, maximum: LAST_PAGE, default: 1, description: "From 1." }),
    items_per_page: Type.Integer({ minimum: 1, maximum: maxItems, default: defaultItems }),
    cursor: Cursor("Cursor", "The `next_cursor` of an answer, for what follows it. `page` does not count then."),
  };
}

const PLACE_CURSOR = { maxLength: 10, pattern: "^[0-9a-z]+$" };
/** The id of the item before, and the place behind it; or a place alone. */
const ID_CURSOR = { maxLength: 42, pattern: "^([0-9a-f]{32})?[0-9a-z]{1,10}$" };

const Cursor = (title: string, description: string, form = PLACE_CURSOR) =>
  Type.Optional(Type.String({ title, ...form, description, examples: ["2s"] }));

const NextCursor = (title: string, description: string) =>
  Type.Union([Type.String({ description, examples: [null] }), Type.Null()], { title });

const NextPage = NextCursor(
  "NextCursor",
  "The `cursor` of the request for what follows; null where nothing does. A page with more than 4 MiB ends early: who " +
    "follows the cursor instead of counting pages reads every item once.",
);

const Continuation = NextCursor(
  "Continuation",
  "The `cursor` of the request for what follows; null where nothing does. Only an answer with more than 4 MiB ends early.",
);

export const PageQuery = Type.Object(pageFields());

/** Of a list whose pages follow an item, so that rows which come meanwhile move none of them. */
export const idPageFields = () => ({
  ...pageFields(),
  cursor: Cursor(
    "IdCursor",
    "The `next_cursor` of an answer, for what follows it, whatever was added meanwhile. `page` does not count then.",
    ID_CURSOR,
  ),
});

/** A list is called like its items. */
const titled = (item: TSchema, ending: string) => {
  const { title } = item as { readonly title?: string };
  return title ? { title: title + ending } : {};
};

export function Page<T extends TSchema>(item: T) {
  return Type.Object(
    {
      data: Type.Array(item),
      total_count: Type.Integer({ examples: [1] }),
      page: Type.Integer({ examples: [1] }),
      items_per_page: Type.Integer({ examples: [10] }),
      has_more: Type.Boolean({ examples: [false] }),
      next_cursor: NextPage,
    },
    titled(item, "Page"),
  );
}

/** Beyond so many rows a list that is `Capped` is not counted. */
export const MOST_COUNTED = 10_000;

const TotalCapped = Type.Boolean({
  examples: [false],
  description: `Whether there are more than \`total_count\`: what filters leave is counted up to ${MOST_COUNTED}.`,
});

/** A page of a list in which counting the rows that a filter leaves takes long. */
export function CappedPage<T extends TSchema>(item: T) {
  return Type.Object({ ...Page(item).properties, total_capped: TotalCapped }, titled(item, "Page"));
}

/** A list that is not paginated, of what is never many. */
export function Whole<T extends TSchema>(item: T) {
  return Type.Object({ data: Type.Array(item), total_count: Type.Integer({ examples: [1] }) }, titled(item, "List"));
}

/** Of a list without pages that a tenant can make long. */
export const CursorQuery = Type.Object({
  cursor: Cursor("From", "The `next_cursor` of an answer, for what follows it."),
});

/** A list without pages that a tenant can make long: one answer has all of it unless that would be too large. */
export function Continued<T extends TSchema>(item: T) {
  return Type.Object({ ...Whole(item).properties, next_cursor: Continuation }, titled(item, "List"));
}

/** A part of what is read to its end, by one answer after the other. */
export function ExportPart<T extends TSchema>(item: T) {
  const next_cursor = NextCursor("ExportEnd", "The id of the last item; null where nothing follows as yet.");
  return Type.Object({ ...Whole(item).properties, total_capped: TotalCapped, next_cursor }, titled(item, "Export"));
}

/** How current the recorded state of something on a cluster is. */
export const freshnessFields = () => ({
  observed_at: Nullable(
    Timestamp("The last time at which the cluster's operator confirmed this state; null before its first report."),
  ),
  stale: Type.Boolean({
    description: "Whether the operator is not connected, or has not confirmed anything for 75 seconds.",
    examples: [false],
  }),
});

/** The name of a chart as Helm allows it, with the path of an OCI registry in front of it where there is one. */
export const ChartName = Type.String({
  minLength: 1,
  maxLength: 250,
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$",
  examples: ["ingress-nginx"],
});
