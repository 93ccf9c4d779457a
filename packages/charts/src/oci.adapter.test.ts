import { describe, expect, onTestFinished, test } from "vitest";
import { packedChart, serve } from "./chart.fixture.ts";
import { ChartUnknown } from "./chart-source.ts";
import { createFetch } from "./fetch.adapter.ts";
import { pullChart } from "./pull.adapter.ts";

const { archive, digest } = packedChart("web", "1.2.0");
const CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

interface Registry {
  readonly blob?: Buffer;
  readonly isPrivate?: boolean;
}

/** A registry that wants a token of everybody, as public ones do. */
async function registry({ blob = archive, isPrivate = false }: Registry = {}) {
  const authorizations: (string | undefined)[] = [];
  const server = await serve((request, response) => {
    const path = request.url ?? "";
    const json = (value: object) => response.end(JSON.stringify(value));
    if (path.startsWith("/token")) {
      if (isPrivate) return response.writeHead(401).end();
      const { searchParams } = new URL(path, "http://registry");
      return json({ token: `${searchParams.get("service")}/${searchParams.get("scope")}` });
    }
    authorizations.push(request.headers.authorization);
    if (request.headers.authorization !== "Bearer reg/repository:charts/web:pull") {
      const challenge = `Bearer realm="${server.url}/token",service="reg",scope="repository:charts/web:pull"`;
      return response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    if (path === "/v2/charts/web/tags/list?n=1000") {
      response.setHeader("link", '</v2/charts/web/tags/list?last=x>; rel="next"');
      return json({ tags: ["1.0.0", "1.2.0_build.7"] });
    }
    if (path === "/v2/charts/web/tags/list?last=x") return json({ tags: ["2.0.0-rc.1"] });
    if (path === "/v2/charts/web/manifests/1.2.0_build.7") {
      return json({ layers: [{ mediaType: "other" }, { mediaType: CHART_LAYER, digest: `sha256:${digest}` }] });
    }
    if (path === `/v2/charts/web/blobs/sha256:${digest}`) return response.end(blob);
    return response.writeHead(404).end();
  });
  onTestFinished(() => server.stop());
  const { host } = new URL(server.url);
  const fetch = createFetch({ allowedHosts: [host] });
  const pull = (name = "web", version?: string) => pullChart(fetch, { repo: `oci://${host}/charts`, name, version });
  return { pull, authorizations };
}

describe("a chart in an OCI registry", () => {
  test("[TP41] a chart in an OCI registry is read with an anonymous token, and its version keeps the plus sign", async () => {
    const { pull, authorizations } = await registry();
    const { version, versions, archive: pulled } = await pull();
    expect({ version, versions }).toEqual({
      version: "1.2.0+build.7",
      versions: ["2.0.0-rc.1", "1.2.0+build.7", "1.0.0"],
    });
    expect(pulled).toEqual(archive);
    expect(authorizations.filter((given) => given === undefined)).toHaveLength(1);
  });

  test("[TP41] a chart in an OCI registry is checked against its digest", async () => {
    const { pull } = await registry({ blob: packedChart("web", "6.6.6").archive });
    await expect(pull()).rejects.toThrow("the chart's archive is not what the index says it is");
  });

  test("[TP41] a chart is unknown where the OCI registry does not have it, or does not show it to everybody", async () => {
    const { pull } = await registry();
    await expect(pull("web", "9.9.9")).rejects.toThrow(ChartUnknown);
    await expect(pull("nothing")).rejects.toThrow(ChartUnknown);
    await expect(pull("..")).rejects.toThrow(ChartUnknown);
    const closed = await registry({ isPrivate: true });
    await expect(closed.pull()).rejects.toThrow(ChartUnknown);
  });
});
