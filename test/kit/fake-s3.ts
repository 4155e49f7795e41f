/** One bucket of an S3-compatible store on loopback, which checks the signature of each request. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { isSigned } from './aws-signed.ts'
import { startWebHost } from './web-host.ts'

export const S3_KEY = { accessKeyId: 'AKIDOFABUCKET', secretAccessKey: 'the/secret+of/a/bucket' }
export const S3_REGION = 'here-1'
const BUCKET = 'backups'
const PAGE_KEYS = 3

export interface S3Call {
  method: string
  key: string
  query: URLSearchParams
  headers: Headers
  body: Buffer
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

interface FailureReply {
  status: number
  code: string
  region?: string
}

export interface FakeS3 {
  url: string
  objects: Map<string, Buffer>
  /** Uploads in parts that have begun, by their ids. */
  uploads: Map<string, { key: string; parts: Map<number, Buffer> }>
  calls: S3Call[]
  /** Returns a reply in place of the usual one, or breaks the connection. */
  instead: (call: S3Call) => FailureReply | 'break' | undefined
  /** Settings of the program, as environment variables. */
  env: Record<string, string>
  close(): Promise<void>
}

export async function startFakeS3(): Promise<FakeS3> {
  const fake: Pick<FakeS3, 'objects' | 'uploads' | 'calls' | 'instead'> = {
    objects: new Map(),
    uploads: new Map(),
    calls: [],
    instead: () => undefined,
  }
  const host = await startWebHost({
    certificate: null,
    answer({ method, path, headers, body }, response) {
      const { pathname, searchParams: query } = new URL(path, 'http://fake')
      const [, bucket, ...rest] = pathname.split('/').map(decodeURIComponent)
      const key = { id: S3_KEY.accessKeyId, secret: S3_KEY.secretAccessKey, region: S3_REGION, service: 's3' }
      const call = { method, key: rest.join('/'), query, headers, body }
      fake.calls.push(call)
      const wanted = fake.instead(call)
      if (wanted === 'break') response.destroy()
      else if (wanted) fail(response, wanted)
      else if (!isSigned({ method, path: pathname, query, headers, body }, key))
        fail(response, { status: 403, code: 'SignatureDoesNotMatch' })
      else if (bucket !== BUCKET) fail(response, { status: 404, code: 'NoSuchBucket' })
      else answer(fake, call, response)
    },
  })
  const url = `http://127.0.0.1:${host.port}`
  return Object.assign(fake, {
    url,
    env: {
      MAILHORN_BACKUP_S3_ENDPOINT: url,
      MAILHORN_BACKUP_S3_REGION: S3_REGION,
      MAILHORN_BACKUP_S3_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      MAILHORN_BACKUP_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    },
    close: () => host.close(),
  })
}

function answer(
  { objects, uploads }: Pick<FakeS3, 'objects' | 'uploads'>,
  { method, key, query, headers, body }: S3Call,
  response: ServerResponse,
) {
  const upload = uploads.get(query.get('uploadId') ?? '')
  if (query.has('uploadId') && !upload) return fail(response, { status: 404, code: 'NoSuchUpload' })
  if (method === 'GET' && key === '') {
    if (!query.has('uploads')) return xml(response, listOf(objects, query))
    const open = [...uploads].map(
      ([id, { key: name }]) => `<Upload><Key>${name}</Key><UploadId>${id}</UploadId></Upload>`,
    )
    return xml(response, `<ListMultipartUploadsResult>${open.join('')}</ListMultipartUploadsResult>`)
  }
  if (method === 'GET') return read(response, objects.get(key), headers)
  if (method === 'HEAD') {
    response.writeHead(objects.has(key) ? 200 : 404, { 'content-length': objects.get(key)?.length ?? 0 })
    return response.end()
  }
  if (method === 'DELETE') {
    if (upload) uploads.delete(query.get('uploadId')!)
    else objects.delete(key)
    return response.writeHead(204).end()
  }
  if (method === 'PUT' && upload) {
    upload.parts.set(Number(query.get('partNumber')), body)
    return response.writeHead(200, { etag: tagOf(body) }).end()
  }
  if (method === 'PUT') {
    if (headers['if-none-match'] === '*' && objects.has(key))
      return fail(response, { status: 412, code: 'PreconditionFailed' })
    objects.set(key, body)
    return response.writeHead(200, { etag: tagOf(body) }).end()
  }
  if (!upload) {
    const id = `upload+${uploads.size + 1}/`
    uploads.set(id, { key, parts: new Map() })
    return xml(
      response,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }
  const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)</g)]
  const parts = named.map(([, number, tag]) => ({ part: upload.parts.get(Number(number)), tag }))
  if (parts.some(({ part, tag }) => !part || tagOf(part) !== tag))
    return fail(response, { status: 400, code: 'InvalidPart' })
  objects.set(key, Buffer.concat(parts.map(({ part }) => part!)))
  uploads.delete(query.get('uploadId')!)
  return xml(response, `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`)
}

/** Pages are short, and their tokens contain characters that have to be encoded. */
function listOf(objects: FakeS3['objects'], query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? ''
  const after = query.get('continuation-token')?.slice('after+/'.length) ?? ''
  const delimiter = query.get('delimiter')
  const entries = new Map<string, string>()
  for (const key of [...objects.keys()].filter(each => each.startsWith(prefix)).sort()) {
    const to = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
    const name = to < 0 ? key : key.slice(0, to + 1)
    entries.set(
      name,
      to < 0
        ? `<Contents><Key>${name}</Key></Contents>`
        : `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`,
    )
  }
  const left = [...entries].filter(([name]) => name > after)
  const page = left.slice(0, PAGE_KEYS)
  const isCut = left.length > page.length
  const token = isCut ? `<NextContinuationToken>after+/${page.at(-1)![0]}</NextContinuationToken>` : ''
  return `<ListBucketResult><Prefix>${prefix}</Prefix><IsTruncated>${isCut}</IsTruncated>${token}${page.map(([, text]) => text).join('')}</ListBucketResult>`
}

function read(response: ServerResponse, object: Buffer | undefined, headers: Headers) {
  if (!object) return fail(response, { status: 404, code: 'NoSuchKey' })
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(String(headers.range ?? '')) ?? []
  if (from === undefined) return response.end(object)
  if (Number(from) >= object.length) return fail(response, { status: 416, code: 'InvalidRange' })
  const part = object.subarray(Number(from), Number(to) + 1)
  response.writeHead(206, {
    'content-range': `bytes ${from}-${Number(from) + part.length - 1}/${object.length}`,
  })
  return response.end(part)
}

function tagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function xml(response: ServerResponse, text: string) {
  response.writeHead(200, { 'content-type': 'application/xml' })
  return response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`)
}

function fail(response: ServerResponse, { status, code, region }: FailureReply) {
  response.writeHead(status, {
    'content-type': 'application/xml',
    ...(region !== undefined && { 'x-amz-bucket-region': region }),
  })
  response.end(`<Error><Code>${code}</Code><Message>in the words of the store</Message></Error>`)
}
