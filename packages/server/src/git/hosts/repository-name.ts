/** A name is part of an address, and a file at some hosts. */
export function checkedName(name: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/.test(name)) {
    throw new Error("The name of a repository has a-z, 0-9 and hyphens.");
  }
  return name;
}
