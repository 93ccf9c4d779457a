/** The problems of what others wrote. They keep their class on the way from one thread to another. */

/** The reason continues "it cannot be read: ". */
export class ReadingProblem extends Error {
  override readonly name = "ReadingProblem";
}

export class ArchiveProblem extends Error {
  override readonly name = "ArchiveProblem";
}

const PROBLEMS = { ReadingProblem, ArchiveProblem };

export interface ProblemMessage {
  readonly problem: keyof typeof PROBLEMS;
  readonly message: string;
}

export function messageOfProblem(error: unknown): ProblemMessage {
  if (error instanceof ArchiveProblem || error instanceof ReadingProblem) {
    return { problem: error.name, message: error.message };
  }
  // Any other error is caused by the text, for example by too many levels.
  return { problem: "ReadingProblem", message: "it cannot be read" };
}

export const problemOfMessage = ({ problem, message }: ProblemMessage): Error => new PROBLEMS[problem](message);
