import { v5 } from "uuid";

/** Changed, it would give every addon another id: instances and templates that name the old ones would lose theirs. */
const ADDONS = "6f1b1a52-9a3e-5c0e-8f0b-2d6c1b7e4a90";

/** The id of an addon, made of its name alone, so that it is the same in every installation and after every start. */
export const definitionId = (name: string): string => v5(name, ADDONS);
