/** Creates expiring download links, and replies that contain files. */
import contentDisposition from 'content-disposition'
import type { Clock } from '../../../lib/clock.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { shortFileName } from '../../../protocols/mime/file-name.ts'
import { parseMediaType } from '../../../protocols/mime/media-type.ts'
import type { RawHttpReply } from '../route/route.ts'
import { createDownloadToken, type FileRef } from './token.ts'

export interface DownloadLink {
  url: string
  /** Time at which the link expires, in ms since the epoch. */
  expiresAt: number
}

export type LinkTo = (file: FileRef) => DownloadLink

interface LinkOptions {
  secrets: SecretKeys
  clock: Clock
  /** URL under which clients reach the service. */
  baseUrl: string
}

const LINK_MS = 3_600_000

export function createLinkTo({ secrets, clock, baseUrl }: LinkOptions): LinkTo {
  return file => {
    const expiresAt = clock.now() + LINK_MS
    const token = createDownloadToken(secrets, file, expiresAt)
    return { url: `${baseUrl}/downloads?token=${token}`, expiresAt }
  }
}

export interface DownloadedFile {
  filename: string
  /** Media type with or without parameters. */
  contentType: string
  /** Absent if the size is not known before the content has been read. */
  sizeBytes?: number
  content: AsyncIterable<Uint8Array>
}

/**
 * Encodes the file name for all clients (RFC 6266, RFC 8187). The other headers prevent that a browser runs
 * the file on the origin of the dashboard.
 */
export function fileReply({ filename, contentType, sizeBytes, content }: DownloadedFile): RawHttpReply {
  const { essence, parameters } = parseMediaType(contentType)
  return {
    status: 200,
    headers: {
      'content-type': [essence, ...parameters].join('; '),
      ...(sizeBytes !== undefined && { 'content-length': String(sizeBytes) }),
      'content-disposition': contentDisposition(shortFileName(filename).toWellFormed() || 'attachment'),
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
    content,
  }
}
