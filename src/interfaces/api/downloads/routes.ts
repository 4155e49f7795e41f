/** Serves files under signed links. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import type { Route } from '../route/route.ts'
import { type DownloadedFile, fileReply } from './link.ts'
import { type FileRef, readDownloadToken } from './token.ts'

/** Returns undefined for a file that does not exist or is outside the retention window of its account. */
export type OpenFile = (file: FileRef) => Promise<DownloadedFile | undefined>

interface DownloadRoutesOptions {
  secrets: SecretKeys
  clock: Clock
  /** Openers, by kind of file. */
  open: Readonly<Record<FileRef['kind'], OpenFile>>
}

export function downloadRoutes({ secrets, clock, open }: DownloadRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/downloads',
      access: 'public',
      summary: 'Download an attachment or a received message by a signed link',
      query: { token: z.string() },
      replies: { 200: '*/*' },
      async handle({ query }) {
        const token = query.get('token') ?? ''
        if (token === '') throw invalidField('token', 'Missing `token` parameter.', 'missing_required_field')
        const ref = orNotFound(readDownloadToken(secrets, token), 'Download')
        if (ref.expiresAt <= clock.now())
          throw new ApiError(
            403,
            'invalid_access',
            'The download link has expired. Request the attachment again to get a new link.',
          )
        return fileReply(orNotFound(await open[ref.kind](ref), 'Download'))
      },
    },
  ]
}
