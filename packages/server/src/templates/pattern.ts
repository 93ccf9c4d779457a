/**
 * Patterns that people write into templates, tested in time that grows with the text and never beyond. V8's own engine
 * backtracks: `^(a+)+$` on thirty letters would hold the whole server up. So patterns are read into a small program that
 * is run for all its possible positions at once, and what such a program cannot say (looking around, referring back) is
 * refused when the template is written.
 */
export type TextTest = (text: string) => boolean;

export class PatternProblem extends Error {
  override readonly name = "PatternProblem";
}

/** Steps of the program, after `{2,30}` has been written out. With the longest text, it is the work that one test can be. */
const MOST_STEPS = 1000;
/** Longer text is not held against a pattern; a parameter that has one takes no more. */
export const LONGEST_MATCHED_TEXT = 4096;

type Expression =
  | { readonly kind: "character"; readonly accepts: TextTest }
  | { readonly kind: "edge"; readonly edge: "start" | "end" }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "choice"; readonly parts: readonly Expression[] }
  | { readonly kind: "repeat"; readonly part: Expression; readonly least: number; readonly most: number };

type Step =
  | { readonly kind: "character"; readonly accepts: TextTest }
  | { readonly kind: "edge"; readonly edge: "start" | "end" }
  | { readonly kind: "fork"; readonly to: number[] }
  | { readonly kind: "found" };

/** Means what `new RegExp(pattern, "u").test` means. Throws PatternProblem. */
export function compilePattern(pattern: string): TextTest {
  try {
    new RegExp(pattern, "u");
  } catch {
    throw new PatternProblem("is no regular expression");
  }
  const program: Step[] = [];
  write(program, new Reader(pattern).whole());
  program.push({ kind: "found" });
  return (text) => text.length <= LONGEST_MATCHED_TEXT && matches(program, Array.from(text));
}

/** Reads what the engine has already found well-formed, so that it only has to know where things begin and end. */
class Reader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  whole(): Expression {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: "choice", parts };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (this.#next !== undefined && this.#next !== "|" && this.#next !== ")") parts.push(this.#repeated());
    return { kind: "sequence", parts };
  }

  #repeated(): Expression {
    const part = this.#single();
    const [least, most] = this.#count();
    if (least === 1 && most === 1) return part;
    // A reluctant repetition finds another place for a match, and one exactly where an eager one does.
    this.#take("?");
    return { kind: "repeat", part, least, most };
  }

  #count(): [least: number, most: number] {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    if (!this.#take("{")) return [1, 1];
    const [least = "", most] = this.#until("}").slice(0, -1).split(",");
    const lower = Number(least);
    if (most === undefined) return [lower, lower];
    return [lower, most === "" ? Number.POSITIVE_INFINITY : Number(most)];
  }

  #single(): Expression {
    if (this.#take("^")) return { kind: "edge", edge: "start" };
    if (this.#take("$")) return { kind: "edge", edge: "end" };
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return character(this.#charactersOfClass());
    if (this.#take("\\")) return character(`\\${this.#escape()}`);
    return character(this.#step());
  }

  #group(): Expression {
    if (this.#take("?")) {
      if (this.#take("<")) {
        if (this.#next === "=" || this.#next === "!") throw new PatternProblem("looks around, which is not supported");
        this.#until(">");
      } else if (!this.#take(":")) throw new PatternProblem("looks around or sets flags, which is not supported");
    }
    const inside = this.whole();
    this.#step();
    return inside;
  }

  #charactersOfClass(): string {
    let text = "[";
    while (this.#next !== "]") text += this.#take("\\") ? `\\${this.#escape()}` : this.#step();
    return text + this.#step();
  }

  #escape(): string {
    const letter = this.#step();
    if (/[1-9k]/.test(letter)) throw new PatternProblem("refers back, which is not supported");
    if (/[bB]/.test(letter)) throw new PatternProblem("asks for the edge of a word, which is not supported");
    if (letter === "p" || letter === "P") return letter + this.#until("}");
    if (letter === "x") return letter + this.#step() + this.#step();
    if (letter === "c") return letter + this.#step();
    if (letter !== "u") return letter;
    if (this.#next === "{") return letter + this.#until("}");
    const digits = this.#step() + this.#step() + this.#step() + this.#step();
    if (/^d[89a-f]/i.test(digits)) throw new PatternProblem("writes half a character, which is not supported");
    return letter + digits;
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(expected: string): boolean {
    if (this.#next !== expected) return false;
    this.#at++;
    return true;
  }

  #step(): string {
    const taken = this.#next;
    if (taken === undefined) throw new PatternProblem("is no regular expression");
    this.#at++;
    return taken;
  }

  #until(end: string): string {
    let text = this.#step();
    while (!text.endsWith(end)) text += this.#step();
    return text;
  }
}

/** One character against one class: there is nothing for the engine to go back to. */
function character(source: string): Expression {
  const one = new RegExp(`^${source}$`, "u");
  return { kind: "character", accepts: (text) => one.test(text) };
}

function write(program: Step[], expression: Expression): void {
  if (program.length > MOST_STEPS) throw new PatternProblem("is too large");
  switch (expression.kind) {
    case "character":
    case "edge":
      program.push(expression);
      return;
    case "sequence":
      for (const part of expression.parts) write(program, part);
      return;
    case "choice":
      writeChoice(program, expression.parts);
      return;
    case "repeat":
      writeRepeat(program, expression);
  }
}

function fork(program: Step[], ...to: number[]): { readonly kind: "fork"; readonly to: number[] } {
  const step = { kind: "fork", to } as const;
  program.push(step);
  return step;
}

function writeChoice(program: Step[], parts: readonly Expression[]): void {
  const choice = fork(program);
  const ends = parts.map((part) => {
    choice.to.push(program.length);
    write(program, part);
    return fork(program);
  });
  for (const end of ends) end.to.push(program.length);
}

function writeRepeat(program: Step[], { part, least, most }: Extract<Expression, { kind: "repeat" }>): void {
  // Before it is written out: a count of a thousand million would be written for a long time.
  if (least > MOST_STEPS || (most !== Number.POSITIVE_INFINITY && most > MOST_STEPS)) {
    throw new PatternProblem("is too large");
  }
  for (let count = 0; count < least; count++) write(program, part);
  if (most === Number.POSITIVE_INFINITY) {
    const loop = fork(program, program.length + 1);
    write(program, part);
    fork(program, program.indexOf(loop));
    loop.to.push(program.length);
    return;
  }
  const exits: { readonly to: number[] }[] = [];
  for (let count = least; count < most; count++) {
    exits.push(fork(program, program.length + 1));
    write(program, part);
  }
  for (const exit of exits) exit.to.push(program.length);
}

function matches(program: readonly Step[], text: readonly string[]): boolean {
  let waiting = new Set<number>();
  for (let position = 0; position <= text.length; position++) {
    // A match may begin anywhere, so that the program also starts anew at every character.
    const reached = reachable(program, [...waiting, 0], position, text.length);
    if (reached.has(program.length - 1)) return true;
    const symbol = text[position];
    waiting = new Set();
    if (symbol === undefined) return false;
    for (const at of reached) {
      const step = program[at];
      if (step?.kind === "character" && step.accepts(symbol)) waiting.add(at + 1);
    }
  }
  return false;
}

/** Every step that can be stood on without reading another character. */
function reachable(program: readonly Step[], from: readonly number[], position: number, end: number): Set<number> {
  const reached = new Set<number>();
  const open = [...from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    const step = program[at];
    if (step?.kind === "fork") open.push(...step.to);
    else if (step?.kind === "edge" && position === (step.edge === "start" ? 0 : end)) open.push(at + 1);
  }
  return reached;
}
