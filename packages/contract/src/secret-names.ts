/** What the last word of a name says of its value. `dbpassword` and `DB_PASSWORD` end alike. */
const SECRET_WORD =
  /(^key|^pass|passw(or)?d|passphrase|pwd|secret|token|dsn|credentials?|(api|access|secret|private|account|encryption|signing|license)key|connectionstring)$/;

/** Names of objects and of public things that end with such a word: `existingSecret`, `imagePullSecret`, `publicKey`. */
const HARMLESS_WORDS = new Set(["existing", "public", "pull", "no", "use", "enable", "create"]);

/** An address with a password, or a private key, whatever its name. Each is found in linear time, because the text may be long. */
const SECRET_TEXT = /:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

/** Whether a value of this name is most likely a secret: a password, a token, a key, an address with a password. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  if (words.some((word) => HARMLESS_WORDS.has(word))) return false;
  return SECRET_WORD.test(words.at(-1) ?? "") || /(connection string)$/.test(words.join(" "));
}

/** `secretKeyRef.key` and `existingSecret.key` name a key of a Secret. */
const isReference = (name: string): boolean => {
  const words = wordsOf(name);
  return words.at(-1) === "ref" || words.includes("existing");
};

/**
 * The dotted paths of the texts in a map that are most likely secrets, by their names or by what they contain. Lists are not entered,
 * because a path cannot name their items. `isPath` says which paths can be named.
 */
export function likelySecretPaths(
  values: Readonly<Record<string, unknown>>,
  isPath: (path: string) => boolean,
  above: readonly string[] = [],
): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    // A name with a dot in it cannot be told from two names.
    if (name.includes(".")) return [];
    const steps = [...above, name];
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return isReference(name) ? [] : likelySecretPaths(value as Readonly<Record<string, unknown>>, isPath, steps);
    }
    const path = steps.join(".");
    const isLikely = typeof value === "string" && value !== "" && (isSecretName(name) || SECRET_TEXT.test(value));
    return isLikely && isPath(path) ? [path] : [];
  });
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
  CAUTIOUS_NAME.test(name) || (typeof value === "string" && CAUTIOUS_TEXT.test(value.slice(0, SEARCHED)));
