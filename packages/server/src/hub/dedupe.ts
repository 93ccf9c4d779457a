/** True when the value differs from the last one that was given for the subject. */
export type IsNew = (subject: string, value: string) => boolean;

/** Remembers the last value of a bounded number of subjects, and forgets the subject that was not seen for the longest time. */
export function dedupe(maxSubjects: number): IsNew {
  const last = new Map<string, string>();
  return (subject, value) => {
    const isNew = last.get(subject) !== value;
    last.delete(subject);
    last.set(subject, value);
    const [oldest] = last.keys();
    if (last.size > maxSubjects && oldest !== undefined) last.delete(oldest);
    return isNew;
  };
}
