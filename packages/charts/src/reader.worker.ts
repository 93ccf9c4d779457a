import { CHART_READINGS } from "./chart-reading.ts";
import { serveReadings } from "./serve-readings.worker.ts";

serveReadings(CHART_READINGS);
