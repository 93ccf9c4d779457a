import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

const BLOCK_BYTES = 512;

function tarEntry(path: string, text: string): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return Buffer.concat([header, content, padding]);
}

const NAME = "{{ .Release.Name }}-tiny";
const metadata = (name: string, more = "") =>
  `metadata:\n  name: ${name}\n  labels:\n    app.kubernetes.io/instance: {{ .Release.Name }}\n${more}`;
/** A simulated pod is told how it ends; a real one has the image for it. */
const IMAGE = '{{ if eq .Values.fate "crash" }}crash:1{{ else }}tiny:1{{ end }}';
/** The usage that a simulated pod reports. */
const USAGE = 'kwok.x-k8s.io/usage-cpu: "250m", kwok.x-k8s.io/usage-memory: "64Mi"';

/** Objects of most sorts, whose pods carry no labels but those that they are selected by. With `hang`, a hook that never ends; with `refuse`, a chart that does not take its values; with `claims`, volumes of the store; with `host`, pods that want the processes of their node. */
const TEMPLATES: Readonly<Record<string, string>> = {
  "refuse.yaml": `{{ if .Values.refuse }}{{ fail (printf "the password %s is not taken" .Values.password) }}{{ end }}`,
  "config.yaml": `apiVersion: v1\nkind: ConfigMap\n${metadata(NAME)}data:\n  color: {{ .Values.color | quote }}\n`,
  "secret.yaml": `apiVersion: v1\nkind: Secret\n${metadata(NAME)}stringData:\n  password: {{ .Values.password | quote }}\n`,
  "service.yaml": `apiVersion: v1\nkind: Service\n${metadata(NAME)}spec:\n  ports: [{port: 80}]\n  selector: {tiny: {{ .Release.Name }}}\n`,
  "claim.yaml": `apiVersion: v1
kind: PersistentVolumeClaim
${metadata(NAME, "  annotations: {helm.sh/resource-policy: keep}\n")}spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`,
  "workload.yaml": `apiVersion: apps/v1
kind: Deployment
${metadata(NAME)}spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {tiny: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {tiny: {{ .Release.Name }}}
      annotations: {test.binnacle.dev/fate: {{ .Values.fate | quote }}, ${USAGE}}
    spec:
      hostPID: {{ .Values.host }}
      containers: [{name: main, image: "${IMAGE}"}]
`,
  "store.yaml": `{{ if .Values.store }}
apiVersion: apps/v1
kind: StatefulSet
${metadata(`${NAME}-store`)}spec:
  serviceName: none
  selector: {matchExpressions: [{key: part, operator: In, values: [store]}]}
  template:
    metadata:
      labels: {part: store}
      annotations: {${USAGE}}
    spec:
      hostPID: {{ .Values.host }}
      terminationGracePeriodSeconds: 0
      containers: [{name: store, image: "tiny:1"}]
  {{ if .Values.claims }}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  {{ end }}
{{ end }}`,
  "hook.yaml": `{{ if .Values.hang }}
apiVersion: batch/v1
kind: Job
${metadata(`${NAME}-hook`, "  annotations: {helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-delete-policy: before-hook-creation}\n")}spec:
  template:
    metadata:
      annotations: {test.binnacle.dev/fate: unready}
    spec:
      hostPID: {{ .Values.host }}
      restartPolicy: Never
      containers: [{name: main, image: "tiny:1"}]
{{ end }}`,
};

const FILES: Readonly<Record<string, string>> = {
  "values.yaml":
    "color: red\nreplicas: 1\npassword: none\nfate: ''\nhang: false\nrefuse: false\nstore: false\nclaims: false\nhost: false\n",
  ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, text]) => [`templates/${name}`, text])),
};

/** The files of a chart, by path. */
export type ChartContent = Readonly<Record<string, string>>;

function archiveOf(chart: string, files: ChartContent): Buffer {
  const named = { "Chart.yaml": `apiVersion: v2\nname: ${chart}\nversion: 1.0.0\n`, ...files };
  const entries = Object.entries(named).map(([path, text]) => tarEntry(`${chart}/${path}`, text));
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK_BYTES)]));
}

/** The chart `tiny`, packed, with other files or more of them. */
export function tinyChart(files: ChartContent = {}): { archive: Buffer; digest: string } {
  const archive = archiveOf("tiny", { ...FILES, ...files });
  return { archive, digest: createHash("sha256").update(archive).digest("hex") };
}

/** A Helm repository on this machine with one small chart, `tiny`, and others. */
export async function serveCharts(others: Readonly<Record<string, ChartContent>> = {}) {
  const charts = Object.entries({ tiny: FILES, ...others });
  const entry = (name: string) =>
    `  ${name}:\n    - {apiVersion: v2, name: ${name}, version: 1.0.0, urls: [${name}-1.0.0.tgz]}\n`;
  const index = `apiVersion: v1\nentries:\n${charts.map(([name]) => entry(name)).join("")}`;
  const files: Readonly<Record<string, string | Buffer>> = {
    "/index.yaml": index,
    ...Object.fromEntries(charts.map(([name, content]) => [`/${name}-1.0.0.tgz`, archiveOf(name, content)])),
  };
  const server = createServer(({ url = "" }, response) => {
    const file = files[url];
    if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    chart: { repo: `http://127.0.0.1:${port}`, name: "tiny", version: "1.0.0" },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
