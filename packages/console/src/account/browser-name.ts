const BROWSERS = [
  [/\bEdg\//, "Edge"],
  [/\bFirefox\//, "Firefox"],
  [/Chrom(?:e|ium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
] as const;
const SYSTEMS = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** The browser and system that a user agent claims, or the agent as it is. Nothing proves either. */
export function browserOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const find = (table: readonly (readonly [RegExp, string])[]) => table.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (!browser) return userAgent;
  return system ? `${browser} on ${system}` : browser;
}
