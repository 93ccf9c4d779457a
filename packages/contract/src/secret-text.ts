/**
 * Secrets that are known by their form, wherever they stand in a text. The text may be long and hostile: each pattern begins with fixed
 * characters and looks a bounded distance only, so that the time grows with the length of the text.
 */
const SECRETS = [
  // A JWT behind its header, signed or not. It is looked for at the dot, because a long word may begin in many places.
  /\.(?<=eyJ[\w-]{10,1000}\.)[\w-]{10}[\w.-]*/g,
  // Tokens with the prefix of their issuer: Binnacle, GitHub, GitLab, Docker, Slack, Google, Stripe, OpenAI, Anthropic, Vault and age.
  /(?<![A-Za-z0-9])(?:bnc_|gh[a-z]_|github_pat_|glpat-|dckr_pat_|xox[a-z]-|AIza|[rs]k_(?:live|test)_|sk-(?:ant|proj|svcacct)-|hv[bs]\.|AGE-SECRET-KEY-)[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:(?:npm|hf)_[A-Za-z0-9]{30,}|SG\.[\w-]{16,})/g,
  // An access key of AWS.
  /(?<![A-Z0-9])A[KS]IA[0-9A-Z]{16}(?![0-9A-Z])/g,
  // A node token of k3s, and a bootstrap token of kubeadm.
  /::(?<=K10[\w.-]{1,100}::)[\w.-]{1,100}:\S+/g,
  /(?<![\w.-])[a-z0-9]{6}\.(?=[a-z]{0,15}\d)[a-z0-9]{16}(?![\w.-])/g,
  // A private key, with all that follows its first line.
  /(?<!-)-{2,100}\s{0,4}BEGIN\s[\w\s]{0,60}PRIVATE\s{1,4}KEY[\s\S]*?(?:-{5}END[\w\s]{0,60}-{5}|$)/gi,
  // Addresses at which whoever knows them can post: webhooks of Slack and Discord.
  /\b(?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks)\/[\w/-]{16,}/gi,
  // An address with a password, up to its host.
  /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/gi,
] as const;

/** The name of a header or of an assignment stays readable. A working directory (PWD) is not a password. */
const BEFORE_SECRETS = [
  /(authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:basic|bearer|token)\s{1,4})[^\s"'[]+/gi,
  /(\bbearer\s{1,4})(?=\D{0,40}\d)[\w+/.~=-]{16,}/gi,
  /((?:passw(?:or)?d|passphrase|pwd|secret|token|(?:access|account|api|encryption|master|private|secret|signing)[_-]?key)["']?=["']?)(?!\/\w+\/)[^\s"'$<*({[;&]{4,}/gi,
  // With spaces, as in a line of YAML or of a log. Prose also has words behind a colon, so this one needs letters and digits.
  /((?:passw(?:or)?d|passphrase|secret|token|(?:access|account|api|encryption|master|private|secret|signing)[_-]?key)["']?\s{0,4}[:=]\s{0,4}["']?)(?=[^\s"']{0,100}\d)(?=[^\s"']{0,100}[a-z])[^\s"'$<*({[;&]{6,}/gi,
  // A variable of a container, with its name before its value.
  /(\bname["']?\s{0,4}[:=]\s{0,4}["']?[\w.-]{0,60}(?:passw(?:or)?d|passphrase|secret|token|(?:access|account|api|encryption|master|private|secret|signing)[_-]?key)["']?[\s,]{1,40}["']?value["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"'$<*({[]+/gi,
  /("(?:[\w-]{0,40}(?:password|passwd|secret|token|auth))"\s{0,4}:\s{0,4}")[^\s"$<*({[]{4,}/gi,
] as const;

const MASK = "[masked]";

const withPlainMasks = (text: string): string =>
  BEFORE_SECRETS.reduce(
    (rest, pattern) => rest.replace(pattern, `$1${MASK}`),
    SECRETS.reduce((rest, pattern) => rest.replace(pattern, MASK), text),
  );

/** Long enough for the shortest secret above. */
const BASE64_WORD = /[A-Za-z0-9+/_-]{24,}={0,2}/g;

/** Masks the secrets in a text, also where they are written in base64. */
export const maskSecrets = (text: string): string =>
  withPlainMasks(text).replace(BASE64_WORD, (word) => {
    const decoded = fromBase64(word);
    return withPlainMasks(decoded) === decoded ? word : MASK;
  });

function fromBase64(word: string): string {
  const digits = word.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  return atob(digits.slice(0, digits.length - (digits.length % 4 === 1 ? 1 : 0)));
}

/** Shorter secrets cannot be recognized by their form, and charts have many short values. */
const SHORTEST = 8;
export const holdsSecret = (text: string): boolean => text.length >= SHORTEST && maskSecrets(text) !== text;

/** 256 bits in hexadecimal; a digest says of what kind it is. */
const LONG_HEX = /(?<!sha\d{3}:|[0-9a-f])[0-9a-f]{64,}/gi;
const LONG_BASE64 = /[A-Za-z0-9+/]{40,}={0,2}/g;
/** As tokens in addresses are written. Names have hyphens too, so one part between them has to look random. */
const LONG_BASE64URL = /[\w-]{40,}={0,2}/g;
const hasMixedPart = (word: string) => word.split(/[-_]/).some((part) => part.length >= 12 && isMixed(part));
/** The beginning of a JWT that is broken into pieces: an object of JSON in base64. */
const BASE64_OBJECT = /(?<![\w-])eyJ[\w-]{10,}/g;
const isMixed = (word: string) => /[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word);

/** Options of commands, which installers quote. */
const OPTIONS = [
  /(--[a-z-]{0,20}(?:password|passwd|secret|token)[ =]["']?)[^\s"'$<*({[]{4,}/gi,
  /(\s(?:-u|--user)[ =][^\s:]{1,64}:)[^\s"'$<*({[]{4,}/g,
  /(\s-p)(?=\S{0,60}\d)(?=\S{0,60}[a-z])[^\s"'$<*({[]{6,}/gi,
] as const;

/**
 * For a line that an installer writes, which has no need of long random words: they are masked too, as the body of a key without its
 * first line is one.
 */
export const maskRandom = (text: string): string =>
  OPTIONS.reduce((rest, pattern) => rest.replace(pattern, `$1${MASK}`), maskSecrets(text))
    .replace(LONG_HEX, MASK)
    .replace(BASE64_OBJECT, MASK)
    .replace(LONG_BASE64, (word) => (isMixed(word) ? MASK : word))
    .replace(LONG_BASE64URL, (word) => (hasMixedPart(word) ? MASK : word));
