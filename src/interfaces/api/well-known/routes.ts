/**
 * Serves `/.well-known/`: ACME challenges, the MTA-STS policy of the provider host, and the proof that a
 * tracking host points to this installation.
 */

import type { Clock } from '../../../lib/clock.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { findHttpAnswer } from '../../../resources/certificates/certificate-rows.ts'
import { PROOF_PATH, proofFor } from '../../../resources/domains/checks/tracking-host.ts'
import type { OwnPolicy } from '../../../resources/domains/own-policy.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError } from '../api-error.ts'
import type { RawHttpReply, Route } from '../route/route.ts'

interface WellKnownRoutesOptions {
  db: Db
  clock: Clock
  mailHost: string
  secrets: SecretKeys
  /** Returns the MTA-STS policy in the mode of the moment; undefined if there is none. */
  findPolicy(): Promise<OwnPolicy | undefined>
}

export const CHALLENGE_PATH = '/.well-known/acme-challenge/:token'

export function wellKnownRoutes({
  db,
  clock,
  mailHost,
  secrets,
  findPolicy,
}: WellKnownRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: CHALLENGE_PATH,
      access: 'public',
      summary: 'ACME http-01 challenge response (RFC 8555 §8.3)',
      replies: { 200: 'application/octet-stream' },
      async handle({ params }) {
        const answer = await findHttpAnswer(db, params.token!, clock.now())
        if (answer === undefined) throw new ApiError(404, 'not_found', 'Unknown ACME challenge token.')
        return textReply('application/octet-stream', answer)
      },
    },
    {
      method: 'GET',
      path: '/.well-known/mta-sts.txt',
      access: 'public',
      summary: 'MTA-STS policy of the mail host, only at `mta-sts.<mail_host>` (RFC 8461 §3.2)',
      replies: { 200: 'text/plain' },
      async handle({ headers }) {
        const host = headers.host?.replace(/\.?(?::\d*)?$/, '').toLowerCase()
        const policy = host === `mta-sts.${mailHost}` ? await findPolicy() : undefined
        if (!policy) throw new ApiError(404, 'not_found', 'No MTA-STS policy is published for this host.')
        return textReply('text/plain; charset=utf-8', policy.text)
      },
    },
    {
      method: 'GET',
      path: PROOF_PATH,
      access: 'public',
      summary: 'Proof that a tracking host points to this installation',
      replies: { 200: 'text/plain' },
      async handle({ headers }) {
        return textReply('text/plain; charset=utf-8', proofFor(secrets, (headers.host ?? '').toLowerCase()))
      },
    },
  ]
}

function textReply(contentType: string, text: string): RawHttpReply {
  return { status: 200, headers: { 'content-type': contentType }, content: Buffer.from(text) }
}
