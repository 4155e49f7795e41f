/**
 * Serves the tracking pixel and tracked links. Redirects are sent at once; opens and clicks are recorded
 * afterwards.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { visitorOf } from '../../../pipeline/tracking/bot-detection.ts'
import { readClickToken, readOpenToken, tokenOf } from '../../../pipeline/tracking/tokens.ts'
import type { VisitBatcher } from '../../../pipeline/tracking/visit-batcher.ts'
import { notFound, orNotFound } from '../api-error.ts'
import type { ApiRequest, Credential, RawHttpReply, Route } from '../route/route.ts'

interface TrackingRoutesOptions {
  secrets: SecretKeys
  visits: Pick<VisitBatcher, 'opened' | 'clicked'>
  /** Whether opens and clicks are recorded at present. */
  isRecorded(): boolean
  clock: Clock
}

/** Transparent GIF with one pixel, 43 bytes. */
const POINT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')
/** Headers that prevent caching and indexing. */
const UNKEPT = {
  'cache-control': 'no-store, no-cache, must-revalidate, private, max-age=0',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
} as const

export function trackingRoutes({ secrets, visits, isRecorded, clock }: TrackingRoutesOptions): Route[] {
  const hitOf = ({ method, headers, clientAddress }: ApiRequest<Credential | null>) => ({
    at: clock.now(),
    visitor: visitorOf(method, headers, clientAddress),
  })
  return [
    {
      method: 'GET',
      path: '/o/:token',
      access: 'public',
      summary: 'Tracking pixel for opens',
      replies: { 200: 'image/gif' },
      async handle(request): Promise<RawHttpReply> {
        const recipient = orNotFound(readOpenToken(secrets, tokenOf(request.params.token!)), 'Link')
        if (isRecorded()) visits.opened(recipient, hitOf(request))
        return { status: 200, headers: { ...UNKEPT, 'content-type': 'image/gif' }, content: POINT }
      },
    },
    {
      method: 'GET',
      path: '/c/:token',
      access: 'public',
      summary: 'Tracked link: redirects to the URL it was signed for',
      replies: { 302: 'text/plain' },
      async handle(request): Promise<RawHttpReply> {
        const link = readClickToken(secrets, tokenOf(request.params.token!))
        if (!link || !isWeb(link.target)) throw notFound('Link')
        if (isRecorded()) visits.clicked(link, hitOf(request))
        return {
          status: 302,
          headers: { ...UNKEPT, 'content-type': 'text/plain; charset=utf-8', location: link.target },
          content: Buffer.from(`${link.target}\n`),
        }
      },
    },
  ]
}

/** Targets are signed and always web URLs. The check limits the damage of a leaked signing key. */
function isWeb(target: string): boolean {
  return /^https?:\/\/[!-~]+$/i.test(target)
}
