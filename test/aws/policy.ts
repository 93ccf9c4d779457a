/** What AWS decides by policies, as far as those of this repository need it. Of what it does not know it throws, instead of allowing it. */
export interface Statement {
  readonly Sid: string;
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface Policy {
  readonly Version: "2012-10-17";
  readonly Statement: readonly Statement[];
}

/** One resource of a request: AWS decides about each, and refuses the request where one is refused. */
export interface Question {
  readonly action: string;
  readonly resource: string;
  /** The keys of conditions, such as `aws:ResourceTag/Name`. One that is missing has no value. */
  readonly context: Readonly<Record<string, string>>;
}

const listOf = (one: string | readonly string[]): readonly string[] => (typeof one === "string" ? [one] : one);

function isLike(text: string, pattern: string): boolean {
  const source = pattern
    .replace(/[.+^$()|[\]{}\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}

type Comparison = (value: string | undefined, wanted: string) => boolean;
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  StringEquals: (value, wanted) => value === wanted,
  StringLike: (value, wanted) => value !== undefined && isLike(value, wanted),
  StringLikeIfExists: (value, wanted) => value === undefined || isLike(value, wanted),
};

function holds({ Condition = {} }: Statement, context: Question["context"]): boolean {
  return Object.entries(Condition).every(([operator, keys]) => {
    const compare = COMPARISONS[operator];
    if (!compare) throw new TypeError(`The simulator has no condition ${operator}.`);
    return Object.entries(keys).every(([key, wanted]) => listOf(wanted).some((one) => compare(context[key], one)));
  });
}

const applies = (statement: Statement, { action, resource, context }: Question) =>
  listOf(statement.Action).some((pattern) => isLike(action.toLowerCase(), pattern.toLowerCase())) &&
  listOf(statement.Resource).some((pattern) => isLike(resource, pattern)) &&
  holds(statement, context);

/** A denial counts more than any number of statements that allow. */
export function isAllowed(policy: Policy, question: Question): boolean {
  const effects = policy.Statement.filter((statement) => applies(statement, question)).map(({ Effect }) => Effect);
  return effects.includes("Allow") && !effects.includes("Deny");
}
