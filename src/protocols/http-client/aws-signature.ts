/** Signs requests with AWS Signature Version 4, as APIs of Amazon and S3-compatible stores ask for it. */
import { createHmac, hash } from 'node:crypto'

export interface AwsKey {
  accessKeyId: string
  secretKey: string
  /** Token of temporary keys. */
  sessionToken?: string | undefined
}

export interface AwsScope {
  /** Region of the endpoint, such as `eu-west-1`. */
  region: string
  /** Name of the service in signatures, such as `ses`. */
  service: string
}

interface RequestToSign {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  /** Empty if the request has none. */
  body: string | Uint8Array
  /** Time of the request, in ms since the epoch. */
  at: number
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * Returns the credential of requests of a service: every request gets a signature with its own time, which
 * covers the method, the path, the query, the body and the headers that it is given. S3 alone wants the hash
 * of the body in a header, and an encoded path as it is.
 */
export function awsCredential(
  key: AwsKey,
  scope: AwsScope,
): (request: RequestToSign) => Record<string, string> {
  const isS3 = scope.service === 's3'
  return ({ method, url, headers, body, at }) => {
    const time = new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, '')
    const date = time.slice(0, 8)
    const place = [date, scope.region, scope.service, 'aws4_request']
    const bodyHash = hash('sha256', body)
    const added = {
      'x-amz-date': time,
      ...(isS3 && { 'x-amz-content-sha256': bodyHash }),
      ...(key.sessionToken !== undefined && { 'x-amz-security-token': key.sessionToken }),
    }
    const signed = Object.entries({ host: url.host, ...headers, ...added })
      .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
      .sort(([a], [b]) => order(a, b))
    const names = signed.map(([name]) => name).join(';')
    const request = [
      method,
      isS3 ? url.pathname : url.pathname.split('/').map(encoded).join('/'),
      queryOf(url),
      ...signed.map(([name, value]) => `${name}:${value}`),
      '',
      names,
      bodyHash,
    ].join('\n')
    const text = [ALGORITHM, time, place.join('/'), hash('sha256', request)].join('\n')
    const signingKey = place.reduce<string | Buffer>(hmac, `AWS4${key.secretKey}`)
    const signature = hmac(signingKey, text).toString('hex')
    return {
      ...added,
      authorization: `${ALGORITHM} Credential=${key.accessKeyId}/${place.join('/')}, SignedHeaders=${names}, Signature=${signature}`,
    }
  }
}

/** Encodes a part of a URL; of RFC 3986, only the unreserved characters remain. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Sorts the parameters by name, then by value, in their encoded form. */
function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map(pair => pair.join('='))
    .join('&')
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
