import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";

/** An object of S3, or of a storage with the same API. */
export interface S3Place {
  readonly url: string;
  readonly client: AwsClient;
  /** A part has at least so many bytes, unless it is the last. */
  readonly partBytes: number;
}

/** S3 takes at most 10,000 parts, so this allows backups of 160 GB. Each part is held in memory. */
const PART_BYTES = 16 * 1024 * 1024;

/** The variables are those of AWS' own tools, so that what is set up for them works here. */
export function s3PlaceOf(address: string, env: Readonly<Record<string, string | undefined>>): S3Place {
  const { hostname: bucket, pathname } = new URL(address);
  const key = pathname.slice(1);
  if (!bucket || !key) throw new Error(`${address} must be s3://<bucket>/<key>.`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that may read and write the bucket.");
  const region = env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1";
  const endpoint = (env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"])?.replace(/\/+$/, "");
  return {
    // Storages other than AWS often have no names for buckets in DNS.
    url: endpoint ? `${endpoint}/${bucket}/${key}` : `https://${bucket}.s3.${region}.amazonaws.com/${key}`,
    partBytes: PART_BYTES,
    client: new AwsClient({
      accessKeyId,
      secretAccessKey,
      region,
      service: "s3",
      ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
    }),
  };
}

/** Uploads in parts, because the length is not known before. Nothing is visible in the bucket until the last part is there. */
export async function uploadObject(place: S3Place, chunks: AsyncIterable<Buffer>): Promise<void> {
  const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(await call(place, "POST", "?uploads"))?.[1];
  if (!uploadId) throw new Error("The storage did not begin the upload.");
  const upload = `uploadId=${encodeURIComponent(uploadId)}`;
  try {
    const tags: string[] = [];
    for await (const part of inParts(chunks, place.partBytes)) {
      const answer = await request(place, "PUT", `?partNumber=${tags.length + 1}&${upload}`, part);
      tags.push(answer.headers.get("etag") ?? "");
    }
    const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const answer = await call(
      place,
      "POST",
      `?${upload}`,
      `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`,
    );
    // S3 answers with 200 before it knows.
    if (answer.includes("<Error>")) throw new Error(`The storage did not complete the upload: ${codeOf(answer)}.`);
  } catch (error) {
    await request(place, "DELETE", `?${upload}`).catch(() => undefined);
    throw error;
  }
}

export async function downloadObject(place: S3Place): Promise<Readable> {
  const { body } = await request(place, "GET", "");
  if (!body) throw new Error("The object is empty.");
  return Readable.fromWeb(body as WebStream);
}

async function* inParts(chunks: AsyncIterable<Buffer>, partBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

const call = async (place: S3Place, method: string, query: string, body?: string) =>
  (await request(place, method, query, body)).text();

/** aws4fetch repeats a request that failed with a 5xx or a 429. */
async function request(
  { url, client }: S3Place,
  method: string,
  query: string,
  body?: Buffer | string,
): Promise<Response> {
  const answer = await client.fetch(`${url}${query}`, { method, ...(body === undefined ? {} : { body }) });
  if (answer.ok) return answer;
  throw new Error(`${method} ${url} was answered with ${answer.status} ${codeOf(await answer.text())}`.trimEnd());
}

const codeOf = (text: string) => /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? "";
