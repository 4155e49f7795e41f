/** The resend package in three ages, as they are installed side by side, pointed at a running service. */
import type { ErrorResponse, Resend } from 'resend'
import * as assert from 'uvu/assert'

export interface ResendVersion {
  /** Name under which the version is installed. */
  name: string
  version: string
  /** Field in which it sends the id of an inline image. */
  inline: 'contentId' | 'inlineContentId'
  /** It lists emails, sends permissive batches and templates, and tells the headers of a reply. */
  modern: boolean
}

export const RESEND_VERSIONS: readonly ResendVersion[] = [
  { name: 'resend', version: '6.38', inline: 'contentId', modern: true },
  { name: 'resend-6-22', version: '6.22', inline: 'contentId', modern: true },
  { name: 'resend-4-8', version: '4.8', inline: 'inlineContentId', modern: false },
]
export const MODERN_VERSIONS = RESEND_VERSIONS.filter(({ modern }) => modern)

interface Target {
  baseUrl: string
  apiKey: string
}

let copies = 0

/**
 * A client of that version, in the types of the newest: the older ones lack nothing that is used with them.
 * The oldest knows no base address but that of its environment when it is loaded, so that its clients are
 * loaded anew, and must be opened one after another.
 */
export async function openResend(
  { name, modern }: ResendVersion,
  { baseUrl, apiKey }: Target,
): Promise<Resend> {
  if (modern) {
    const { Resend } = (await import(name)) as typeof import('resend')
    return new Resend(apiKey, { baseUrl })
  }
  process.env.RESEND_BASE_URL = baseUrl
  try {
    const copy = `${import.meta.resolve(name)}?copy=${++copies}`
    const { Resend } = (await import(copy)) as typeof import('resend')
    return new Resend(apiKey)
  } finally {
    delete process.env.RESEND_BASE_URL
  }
}

interface Answer<T> {
  data: T | null
  error: ErrorResponse | null
}

/** Returns the data of a reply. @throws when the request was refused */
export function requireData<T>({ data, error }: Answer<T>): T {
  assert.is(error, null, JSON.stringify(error))
  return data!
}

/** That the client was told of an error so, by its name. */
export function assertTold<T>({ data, error }: Answer<T>, name: string, status: number): void {
  assert.is(data, null)
  assert.equal([error?.name, error?.statusCode], [name, status], JSON.stringify(error))
  assert.ok(error!.message.length > 0)
}
