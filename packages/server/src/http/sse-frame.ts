const NAME = /^[\w-]+$/;

/**
 * Encodes one frame. JSON escapes line breaks, so the data cannot begin another field. With the id a client continues after
 * the event.
 */
export function encodeFrame(name: string, data: object, id?: number): string {
  if (!NAME.test(name)) throw new TypeError("The name of an event must be a word.");
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
