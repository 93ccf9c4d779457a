/** Whether a fact about a subject is another one than the last that was given. */
export type IsNews = (subject: string, fact: string) => boolean;

/** Remembers the last fact of each of so many subjects; of more than that, the one that was longest silent is forgotten. */
export function rememberLast(most: number): IsNews {
  const last = new Map<string, string>();
  return (subject, fact) => {
    const isNews = last.get(subject) !== fact;
    last.delete(subject);
    last.set(subject, fact);
    const [oldest] = last.keys();
    if (last.size > most && oldest !== undefined) last.delete(oldest);
    return isNews;
  };
}
