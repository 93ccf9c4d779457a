import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether only this machine can reach what listens there. A name other than localhost may mean any address. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  if (family === 0) return /^localhost\.?$/i.test(address);
  return LOOPBACK.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Of 32 random bytes about 30 are distinct; fewer than 20 are as good as impossible. */
const DISTINCT_OF_32 = 20;
const MEASURED_BYTES = 32;

/** Why a key is not a random one; null when it may be. Continues a sentence: "the key …". */
export function predictabilityOf(bytes: Uint8Array): string | null {
  const first = bytes[0];
  if (bytes.every((byte) => byte === first)) return "repeats one byte";
  if (periodOf(bytes) <= bytes.length / 2) return "repeats a pattern";
  if (isCounting(bytes)) return "counts up or down";
  const least = Math.ceil((DISTINCT_OF_32 * Math.min(bytes.length, MEASURED_BYTES)) / MEASURED_BYTES);
  return new Set(bytes).size < least ? "has too few distinct bytes" : null;
}

/** Hexadecimal digits are the bytes they stand for; any other text is what its characters are. */
export function predictabilityOfText(text: string): string | null {
  const isHex = text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text);
  return predictabilityOf(isHex ? Buffer.from(text, "hex") : Buffer.from(text));
}

/** The length of the shortest beginning that the whole repeats, by the failure function of Knuth, Morris and Pratt. */
function periodOf(bytes: Uint8Array): number {
  const borders = [0];
  for (let index = 1; index < bytes.length; index++) {
    let border = borders[index - 1] ?? 0;
    while (border > 0 && bytes[index] !== bytes[border]) border = borders[border - 1] ?? 0;
    borders.push(bytes[index] === bytes[border] ? border + 1 : 0);
  }
  return bytes.length - (borders.at(-1) ?? 0);
}

function isCounting(bytes: Uint8Array): boolean {
  const steps = new Set(bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0)));
  return steps.size <= 1;
}
