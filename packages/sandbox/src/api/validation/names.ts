const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const tooLong = (most: number) => `must be no more than ${most} characters`;

/** Each of these says what is wrong with the text; null when nothing is. */
export function subdomainProblem(text: string): string | null {
  if (text.length > 253) return tooLong(253);
  if (SUBDOMAIN.test(text)) return null;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

export function labelProblem(text: string): string | null {
  if (text.length > 63) return tooLong(63);
  if (LABEL.test(text)) return null;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** Names of roles and the like may hold all but what means something in a path. */
export function pathSegmentProblem(text: string): string | null {
  if (text === "." || text === "..") return `may not be '${text}'`;
  if (text.includes("/")) return "may not contain '/'";
  return text.includes("%") ? "may not contain '%'" : null;
}

export function qualifiedNameProblem(text: string): string | null {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2) {
    return "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
  }
  if (parts.length === 2) {
    if (parts[0] === "") return "prefix part must be non-empty";
    const problem = subdomainProblem(parts[0] ?? "");
    if (problem) return `prefix part ${problem}`;
  }
  if (name === "") return "name part must be non-empty";
  if (name.length > 63) return `name part ${tooLong(63)}`;
  if (QUALIFIED.test(name)) return null;
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
}

export function labelValueProblem(text: string): string | null {
  if (text.length > 63) return tooLong(63);
  if (LABEL_VALUE.test(text)) return null;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}
