import { v7 } from "uuid";

/** Ids grow with time, so ordering by id is ordering by creation, finer than any clock column. */
export const newId = (): string => v7();
