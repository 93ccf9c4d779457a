import { PATTERN_DESCRIPTIONS } from "./fields.ts";

/**
 * The error message of each pattern of requests. A test checks that every pattern of a request has a message and that
 * every entry is the pattern of a request.
 */
export const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  ...PATTERN_DESCRIPTIONS,
  "^(https?|ssh)://[A-Za-z0-9_\\[][!-~]*$":
    "Input should be an address that begins with https://, http:// or ssh://, in visible ASCII characters",
  "^ssh://[A-Za-z0-9_\\[][!-~]*$": "Input should be an address that begins with ssh://, in visible ASCII characters",
  "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)*$":
    "Input should be the name of an owner: letters, digits, dots, underscores and hyphens, in parts between single slashes that begin and end with a letter or digit",
  "^[A-Za-z0-9][A-Za-z0-9_-]*$":
    "Input should have only letters, digits, hyphens and underscores, and begin with a letter or digit",
  "^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$":
    "Input should be a domain, such as users.noreply.example.com",
  "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]+$": "Input should have no control characters but line breaks and tabs",
  "^[a-z0-9@.-]+ [A-Za-z0-9+/=]+$": "Input should be a line of known_hosts without the name, such as ssh-ed25519 AAAA…",
  "^[a-z0-9]+$": "Input should have only lower-case letters and digits",
  "^[0-9a-z]+$": "Input should be the next_cursor of an earlier answer",
  "^([0-9a-f]{32})?[0-9a-z]{1,10}$": "Input should be the next_cursor of an earlier answer",
  "^https?://": "Input should begin with http:// or https://",
  "^[!-~]+$": "Input should have only visible ASCII characters, without spaces or line breaks",
  "^v[0-9]+\\.[0-9]+\\.[0-9]+\\+k3s[0-9]+$": "Input should be a release of k3s, such as v1.37.1+k3s1",
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$":
    "Input should have only lower-case letters, digits and hyphens, and begin and end with a letter or digit",
  "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$":
    "Input should have only lower-case letters, digits, dots and hyphens, and begin and end with a letter or digit",
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$":
    "Input should be a name of lower-case letters, digits and hyphens, in parts between single dots that begin and end with a letter or digit",
  "^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$":
    "Input should be the ARN of a role, such as arn:aws:iam::123456789012:role/binnacle",
  "^arn:aws(-[a-z]+)*:iam::[0-9]{12}:policy/[A-Za-z0-9+=,.@_/-]+$":
    "Input should be the ARN of a policy, such as arn:aws:iam::123456789012:policy/binnacle-boundary",
  "^http://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$":
    "Input should be the address of an HTTP proxy, such as http://proxy.example.com:3128, without a user name or password, which everything on a machine could read, and without a path",
  "^\\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5}|/[0-9]{1,2})?$":
    "Input should be a host, a domain such as .example.com, or a range such as 10.0.0.0/8",
  "^(\\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?)$":
    "Input should be the host of a registry, such as docker.io, with a port if it needs one, or * for every registry",
  "^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~%+-]+)*$":
    "Input should be an address that begins with https:// or http://, with a host, without a slash at its end, and without a user name or password, which everything on a machine could read",
  "^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~%+-]+)*$":
    "Input should be an address that begins with https://, with a host, without a slash at its end, and without a user name or password, which everything on a machine could read",
  "^(-----BEGIN CERTIFICATE-----[\\x0a]([A-Za-z0-9+/=]+[\\x0a])+-----END CERTIFICATE-----[\\x0a]?)+$":
    "Input should be certificates in the form PEM and nothing else, with plain line breaks",
  "^[0-9a-f]{64}$": "Input should be a SHA-256 checksum: 64 lower-case hexadecimal digits",
  "^[A-Za-z0-9-]+$": "Input should have only letters, digits and hyphens",
  "^(https?|oci)://[A-Za-z0-9\\[][!-~]*$":
    "Input should be an address that begins with https://, http:// or oci://, in visible ASCII characters",
  "^[^\\x00-\\x1f\\x7f:]+$": "Input should have no colon, control characters or line breaks",
  "^[^\\x00-\\x1f\\x7f]+$": "Input should have no control characters or line breaks",
  "^[A-Za-z0-9.-]+$": "Input should have only letters, digits, dots and hyphens",
  "^(https?|oci)://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~/%+-]*)?$":
    "Input should be an address that begins with https://, http:// or oci://, with a host, and without a user name, query or fragment",
  "^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$":
    "Input should be the name of a chart: letters, digits, dots, underscores and hyphens, in parts between single slashes that begin with a letter or digit",
  "^[0-9]+[smhdw]$": "Input should be a number with the unit s, m, h, d or w, such as 15m",
  "^[A-Z0-9_]+$": "Input should have only capital letters, digits and underscores",
  "^(https?://)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[!-~]*)?$":
    "Input should be the host of a registry, such as ghcr.io, with a scheme, a port or a path if it needs one",
  "^[^\\x00-\\x1f\\x7f-\\x9f:]+$": "Input should have no colon, control characters or line breaks",
  "^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$":
    "Input should be a quantity of Kubernetes, such as 250m, 2 or 1.5Gi",
  "^[0-9A-Za-z][0-9A-Za-z.+_-]*$":
    "Input should be a version of letters, digits, dots, plus signs, underscores and hyphens that begins with a letter or digit",
  "^[A-Za-z_][A-Za-z0-9_]*$":
    "Input should have only letters, digits and underscores, and begin with a letter or underscore",
  "^([^$]|\\$\\$+[^$]|\\$[^{$])*\\$\\{[^}]*\\}": `Input should hold a placeholder such as \${name}`,
  "^[A-Za-z_][A-Za-z0-9_.-]*$":
    "Input should have only letters, digits, underscores, dots and hyphens, and begin with a letter or underscore",
  "^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$":
    "Input should have only letters, digits, underscores, dots and hyphens, at most 253, and begin and end with a letter or digit",
  "^/": "Input should begin with a slash",
  "^(\\*\\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$":
    "Input should be a host name such as shop.example.com or *.example.com: labels of lower-case letters, digits and hyphens, each at most 63 characters, with dots between them",
  "^/[A-Za-z0-9._~/%-]*$":
    "Input should begin with a slash and have only letters, digits and the characters . _ ~ / % -",
  "^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([0-9A-Za-z*?/,-]+ +){4}[0-9A-Za-z*?/,-]+)$":
    "Input should be a cron schedule of five fields, such as 0 3 * * *, or a shortcut such as @daily",
  "^(https?|oci)://[!-~]+$":
    "Input should be an address that begins with https://, http:// or oci://, in visible ASCII characters",
  "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$":
    "Input should be a path of names with dots between them, each of letters, digits, underscores and hyphens",
  "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,252}|\\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,251})$":
    "Input should have only letters, digits, underscores, hyphens and dots, at most 253, and not begin with two dots",
  "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$":
    "Input should be a name of letters, digits, hyphens, underscores and dots, at most 63, that begins and ends with a letter or digit, and may have a domain and a slash before it",
  "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$":
    "Input should be empty, or have only letters, digits, hyphens, underscores and dots, and begin and end with a letter or digit",
  "^(/\\.{0,2}[A-Za-z0-9_~+@=,%-][A-Za-z0-9._~+@=,%-]{0,250}){1,32}$":
    "Input should be the path of a file from the root, such as /etc/app/config.yaml, of letters, digits and the characters . _ ~ + @ = , % -",
  "^[^.]+(\\.[^.]+)*$": "Input should be a path of names with dots between them",
};
