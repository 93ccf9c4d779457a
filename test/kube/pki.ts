import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** The properties of a certificate. */
interface Purpose {
  readonly ca: string;
  readonly subject: string;
  readonly usage: string;
  readonly names?: string;
}

/** In the order in which nothing is signed by what is not there yet. */
const CERTIFICATES: Readonly<Record<string, Purpose>> = {
  apiserver: {
    ca: "ca",
    subject: "/CN=kube-apiserver",
    usage: "serverAuth",
    names: "IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc",
  },
  kubelet: { ca: "ca", subject: "/CN=kwok", usage: "serverAuth", names: "IP:127.0.0.1,DNS:localhost" },
  "kubelet-client": { ca: "ca", subject: "/O=system:masters/CN=kubelet-client", usage: "clientAuth" },
  "front-proxy": { ca: "front-proxy-ca", subject: "/CN=front-proxy-client", usage: "clientAuth" },
  "controller-manager": { ca: "ca", subject: "/CN=system:kube-controller-manager", usage: "clientAuth" },
  scheduler: { ca: "ca", subject: "/CN=system:kube-scheduler", usage: "clientAuth" },
  admin: { ca: "ca", subject: "/O=system:masters/CN=admin", usage: "clientAuth" },
};

/** Writes every key and certificate of a new cluster into a folder, as `<name>.key` and `<name>.crt`. */
export async function makePki(folder: string): Promise<void> {
  const openssl = (...args: string[]) => run("openssl", args, { cwd: folder });
  for (const name of ["ca", "front-proxy-ca"]) {
    await openssl(
      "req",
      "-x509",
      ...CURVE,
      "-days",
      "30",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
    );
  }
  for (const [name, { ca, subject, usage, names }] of Object.entries(CERTIFICATES)) {
    const extensions = [`extendedKeyUsage=${usage}`, ...(names ? [`subjectAltName=${names}`] : [])];
    await writeFile(join(folder, `${name}.ext`), extensions.join("\n"));
    await openssl("req", ...CURVE, "-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const signing = ["-CA", `${ca}.crt`, "-CAkey", `${ca}.key`, "-CAcreateserial", "-days", "30"];
    await openssl("x509", "-req", "-in", `${name}.csr`, ...signing, "-extfile", `${name}.ext`, "-out", `${name}.crt`);
  }
  await openssl("genrsa", "-out", "service-account.key", "2048");
  await openssl("rsa", "-in", "service-account.key", "-pubout", "-out", "service-account.pub");
}
