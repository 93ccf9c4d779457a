/** `/components/0/name` as `["components", 0, "name"]`; a step is a number only where it leads into a list. */
export function stepsAlong(pointer: string, root: unknown): (string | number)[] {
  let container = root;
  return pointer
    .split("/")
    .slice(1)
    .map((written) => {
      const step = written.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(container) ? Number(step) : step;
      container = (container as Record<string | number, unknown>)[key];
      return key;
    });
}
