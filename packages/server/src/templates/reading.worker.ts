import { serveReadings } from "@binnacle/charts/reading";
import { READINGS } from "./reading.ts";

serveReadings(READINGS);
