import type { Case } from "./conformance-case.fixture.ts";
import { KIND_CASES } from "./conformance-kinds.fixture.ts";
import { OBJECT_CASES } from "./conformance-objects.fixture.ts";
import { WORKLOAD_CASES } from "./conformance-workloads.fixture.ts";

/** A difference between the answers of the sandbox and of a real API server is a fault of the sandbox. */
export const CASES: readonly Case[] = [...OBJECT_CASES, ...WORKLOAD_CASES, ...KIND_CASES];
