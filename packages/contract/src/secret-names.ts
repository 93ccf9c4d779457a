import { holdsSecret } from "./secret-text.ts";

/** The end of a word that is a secret wherever it stands in a name: `DB_PASSWORD`, `dbpassword`, `passwordBase64`, `adminPasswordHash`. */
const SECRET_WORD = /(passw(or)?d|passphrase|pwd|secret|token|dsn|credential|connectionstring)$/;

/** The end of a name that is a secret: `apiKey`, `sshkey`, `userpass`. Keys of maps and tables, and public keys, are not secrets. */
const SECRET_END =
  /(?<!public|authorized|topology|sort|partition|primary|foreign|routing|label|mon|tur|don|hot|joc|hoc|whis)key$|(?<!com|by|tres|sur|over|under)pass$/;

/** Words behind a key or a password that say how it is written: `privateKeyPem`, `keyData`. */
const WRITTEN_AS = new Set([
  "value",
  "data",
  "string",
  "text",
  "plain",
  "raw",
  "pem",
  "der",
  "json",
  "hash",
  "hex",
  "base",
]);

/** The last word of a name that tells something about a secret: `secretName`, `passwordFile`, `tokenExpiration`, `credentials.user`. */
const ABOUT_A_SECRET = new Set(
  (
    "name file filename path ref reference url uri endpoint host hostname address port server service user username login email id type kind format " +
    "class algorithm alg issuer audience scope claim expiration expiry expire ttl age lifetime duration period interval timeout second minute hour day " +
    "length size count limit policy rule rotation enabled disabled create required optional mount dir directory volume storage store backend provider " +
    "manager engine namespace annotation label selector template prefix suffix header version mode method strategy location region role group field " +
    "column env var variable review reviewer request image repository tag registry index hint description validation strength property"
  ).split(" "),
);

/** Counts and limits: `maxTokens`, `tokensPerMinute`. */
const COUNTED = new Set(["max", "maximum", "min", "minimum", "num", "number", "total", "per"]);

/** Names of an object that holds the secret, and of its keys: `existingSecret`, `imagePullSecrets`, `secretKeyRef`, `existingSecretPasswordKey`. */
const REFERENCE =
  /\b(existing|external|pull|create|use|enable) (\w+ )*secrets?$|\bexisting (\w+ )*secrets? (\w+ )*keys?$|(existing|pull)secrets?$|\brefs?$|^secret keys$/;

/** Values with which charts switch something on or off. */
const FLAG = /^(true|false|yes|no|on|off)$/i;

/** The end of a name tells what it is, and a name of any length is split in little time. */
const LONGEST_NAME = 200;

const splitName = (name: string): string[] =>
  name
    .slice(-LONGEST_NAME)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

/** The words of a name, without numbers and in the singular. */
const wordsOf = (name: string): string[] =>
  splitName(name)
    .map((word) =>
      word
        .replace(/\d+$/, "")
        .replace(/ies$/, "y")
        .replace(/(?<=\w{3})(?<!s)s$/, ""),
    )
    .filter(Boolean);

/** Most names have none of these, and then they need not be split. */
const HAS_PART = /pass|pwd|secret|token|dsn|credential|connection|key/i;

/** Whether a value of this name is most likely a secret: a password, a token, a key, an address with a password. */
export function isSecretName(name: string): boolean {
  if (!HAS_PART.test(name)) return false;
  const words = wordsOf(name);
  return !isAboutSecret(name, words) && (words.some((word) => SECRET_WORD.test(word)) || endsAsSecret(words));
}

/** Whether the name is that of the secret itself, and not of something with a secret in it, such as a `passwordUpdateJob`. */
function endsAsSecret(words: readonly string[]): boolean {
  const end = words.slice(0, words.findLastIndex((word) => !WRITTEN_AS.has(word)) + 1);
  return SECRET_WORD.test(words.join("")) || SECRET_WORD.test(end.join("")) || SECRET_END.test(end.join(""));
}

const isAboutSecret = (name: string, words: readonly string[]): boolean =>
  ABOUT_A_SECRET.has(words.at(-1) ?? "") || words.some((word) => COUNTED.has(word)) || isReference(name);

const isReference = (name: string): boolean => /secret|ref/i.test(name) && REFERENCE.test(splitName(name).join(" "));

/** A value that is most likely a secret. */
export interface LikelySecret {
  readonly steps: readonly (string | number)[];
  /** The steps as `plain_values` has them. */
  readonly path: string;
  /** Only a text can be sealed, at a path through maps whose names are those of a path. */
  readonly canBeSealed: boolean;
}

/** Facts about a value that follow from the names of its parents. */
interface Above {
  readonly steps: readonly (string | number)[];
  /** A name above is that of a secret, as in `password.value`, `secrets.FOO` and `secret.stringData.foo`. */
  readonly isSecret: boolean;
  /** A Secret is referred to beside the value, so a name such as `userPasswordKey` is that of a key in it. */
  readonly refers: boolean;
  readonly isInList: boolean;
}

type Values = Readonly<Record<string, unknown>>;
const isMap = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
const TOP: Above = { steps: [], isSecret: false, refers: false, isInList: false };

/**
 * The values in a map that are most likely secrets, by their names or by what they contain. `isPath` says which paths can be named; those
 * in `plain`, and all below them, are left out.
 */
export function likelySecrets(
  values: Values,
  isPath: (path: string) => boolean,
  plain: readonly string[] = [],
): LikelySecret[] {
  return secretsIn(values, TOP)
    .map(({ steps, isText }) => {
      const path = steps.join(".");
      const hasNames = steps.every((step) => typeof step === "string" && !step.includes("."));
      return { steps, path, canBeSealed: isText && hasNames && isPath(path) };
    })
    .filter(({ path }) => !isAtOrBelow(path, plain));
}

interface ChartValues {
  readonly values?: Values;
  readonly secret_values?: readonly string[];
  readonly plain_values?: readonly string[];
}

/** The values with a mask in place of what is listed as secret or looks like it. A reference to a secret stays. */
export function withHiddenSecrets(
  { values = {}, secret_values = [], plain_values }: ChartValues,
  mask: string,
): Values {
  const likely = likelySecrets(values, () => true, plain_values).map(({ steps }) => steps);
  const listed = secret_values.map((path) => path.split("."));
  return [...likely, ...listed].reduce<unknown>((rest, steps) => masked(rest, steps, mask), values) as Values;
}

function masked(value: unknown, [step, ...rest]: readonly (string | number)[], mask: string): unknown {
  if (step === undefined) return isMap(value) && "secret_ref" in value ? value : mask;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? masked(item, rest, mask) : item));
  if (!isMap(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: masked(value[step], rest, mask) };
}

/** Whether a path is one of the others or leads through one of them. */
export const isAtOrBelow = (path: string, others: readonly string[]): boolean =>
  others.some((other) => path === other || path.startsWith(`${other}.`));

interface Found {
  readonly steps: readonly (string | number)[];
  readonly isText: boolean;
}

function secretsIn(values: Values, above: Above): Found[] {
  const refers = above.refers || Object.entries(values).some(([name, value]) => isReference(name) && Boolean(value));
  // Environment variables have their name beside their value.
  const isNamed = typeof values["name"] === "string" && isSecretName(values["name"]);
  return Object.entries(values).flatMap(([name, value]) =>
    secretsAt(name, value, { ...above, refers, isSecret: above.isSecret || (isNamed && name === "value") }),
  );
}

function secretsAt(name: string, value: unknown, above: Above): Found[] {
  const steps = [...above.steps, name];
  const words = above.isSecret || HAS_PART.test(name) ? wordsOf(name) : [];
  const isOwn = isOwnSecret(name, words, above);
  const isBelow = above.isSecret && words.at(-1) !== "key" && !isAboutSecret(name, words);
  if (isMap(value)) {
    if (IS_FOREIGN.test(name)) return textsIn(value, steps);
    const isSecret = isBelow || (isOwn && endsAsSecret(words));
    return secretsIn(value, { ...above, steps, isSecret, refers: isReference(name) });
  }
  if (Array.isArray(value)) {
    // A list of Secrets has their names.
    const isSecret = isBelow || (isOwn && endsAsSecret(words) && words.at(-1) !== "secret");
    return itemSecrets(value, { ...above, steps, isSecret, isInList: true });
  }
  if (typeof value === "number") return isOwn && words.at(-1) !== "key" ? [{ steps, isText: false }] : [];
  return textSecrets(value, isOwn || isBelow, steps);
}

function itemSecrets(items: readonly unknown[], above: Above): Found[] {
  return items.flatMap((item, index) => {
    const at = { ...above, steps: [...above.steps, index] };
    if (Array.isArray(item)) return itemSecrets(item, at);
    return isMap(item) ? secretsIn(item, at) : textSecrets(item, above.isSecret, at.steps);
  });
}

/** Annotations and labels have names that others have chosen, and refer to Secrets by their values. */
const IS_FOREIGN = /(annotations|labels|selector)$/i;
const textsIn = (values: Values, steps: Found["steps"]): Found[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === "object" ? secretsAt(name, value, { ...TOP, steps }) : textSecrets(value, false, [...steps, name]),
  );

function textSecrets(value: unknown, isSecret: boolean, steps: Found["steps"]): Found[] {
  if (typeof value !== "string" || value === "" || FLAG.test(value)) return [];
  return isSecret || holdsSecret(value) ? [{ steps, isText: true }] : [];
}

/** What Secrets hold, so that names such as `userKey` and `passwordKey` name a key of a Secret. */
const KEPT_IN_SECRETS = new Set(["user", "username", "password", "token", "secret"]);

/** A qualified name, as annotations have, is not judged; in a list, `key` alone is that of a label or a taint. */
function isOwnSecret(name: string, words: readonly string[], { refers, isInList }: Above): boolean {
  if (name.includes("/") || !isSecretName(name)) return false;
  const [last, before] = words.toReversed();
  if (last !== "key") return true;
  return before === undefined ? !refers && !isInList : !(refers && KEPT_IN_SECRETS.has(before));
}

const CAUTIOUS_NAME =
  /pass|pwd|secret|token|key|credential|auth|private|signature|salt|dsn|cookie|session|connection.?string|webhook/i;
/** Credentials in a URL or an assignment, a PEM block, and long words as keys and tokens are; UUIDs and names have hyphens. */
const CAUTIOUS_TEXT =
  /:\/\/[^/\s]*@|-----BEGIN|(pass(word|wd|phrase)?|pwd|secret|token|key)["']?\s*[=:]|[\w+=]{32,}|[\w+/=]{40,}/i;
/** Only the beginning of a value is ever shown where this is asked. */
const SEARCHED = 4_000;

/**
 * For records of changes, which many read and nobody corrects: says too often rather than too seldom that something is secret. It is then
 * named without its value.
 */
export const mayBeSecret = (name: string, value: unknown): boolean =>
  CAUTIOUS_NAME.test(name) || (typeof value === "string" && isCautious(value.slice(0, SEARCHED)));

const isCautious = (text: string): boolean => CAUTIOUS_TEXT.test(text) || holdsSecret(text);
