/**
 * Checks signatures of version 4 by the steps of Amazon's documentation, apart from the code under test.
 */
import { createHash, createHmac } from 'node:crypto'

interface SignedRequest {
  method: string
  /** Without the query, as it was sent. */
  path: string
  query: URLSearchParams
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string | Buffer
}

interface Key {
  id: string
  secret: string
  region: string
  service: string
}

const SIGNED = /^AWS4-HMAC-SHA256 Credential=(\S+?)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/

/** Whether a request is signed with the key, and all headers are that have to be. */
export function isSigned({ method, path, query, headers, body }: SignedRequest, key: Key): boolean {
  const header = (name: string) => String(headers[name] ?? '')
  const isS3 = key.service === 's3'
  const [, id, scope = '', names = '', signature] = SIGNED.exec(header('authorization')) ?? []
  const date = header('x-amz-date')
  const present = (name: string) => (header(name) === '' ? [] : [name])
  const needed = [
    ...(isS3 || body.length === 0 ? [] : ['content-type']),
    'host',
    ...present('if-none-match'),
    ...present('range'),
    ...(isS3 ? ['x-amz-content-sha256'] : []),
    'x-amz-date',
    ...present('x-amz-security-token'),
  ]
  const bodyHash = createHash('sha256').update(body).digest('hex')
  if (id !== key.id || names !== needed.join(';')) return false
  if (isS3 && header('x-amz-content-sha256') !== bodyHash) return false
  if (scope !== `${date.slice(0, 8)}/${key.region}/${key.service}/aws4_request`) return false
  const parameters = [...query].map(([name, value]) => `${percent(name)}=${percent(value)}`).sort()
  let canonical = `${method}\n${isS3 ? path : percent(path, '/')}\n${parameters.join('&')}\n`
  for (const name of needed) canonical += `${name}:${header(name)}\n`
  canonical += `\n${names}\n${bodyHash}`
  const digest = createHash('sha256').update(canonical).digest('hex')
  let signing = Buffer.from(`AWS4${key.secret}`)
  for (const part of [...scope.split('/'), `AWS4-HMAC-SHA256\n${date}\n${scope}\n${digest}`])
    signing = createHmac('sha256', signing).update(part).digest()
  return signing.toString('hex') === signature
}

/** Writes every byte but those of unreserved characters as a hexadecimal number. */
function percent(text: string, kept = ''): string {
  let result = ''
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte)
    const isPlain = /[A-Za-z0-9._~-]/.test(character) || kept.includes(character)
    result += isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return result
}
