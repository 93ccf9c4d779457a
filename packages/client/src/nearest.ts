/** The words that were probably meant: those that differ from what was typed by few letters, the nearest first. */
export function nearest(typed: string, known: readonly string[], most = 3): string[] {
  const word = typed.toLowerCase();
  const tolerated = Math.max(1, Math.floor(word.length / 3));
  return [...new Set(known)]
    .map((candidate) => ({ candidate, distance: distanceOf(word, candidate.toLowerCase(), tolerated) }))
    .filter(({ distance }) => distance <= tolerated)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** How many letters are added, left out, replaced or exchanged with their neighbour. Beyond the limit any greater number will do. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isExchanged) least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit + 1;
}
