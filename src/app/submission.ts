/**
 * The listeners for SMTP submission on ports 587 and 465, and the relay listener. Part of the composition
 * root.
 */

import type { Config } from '../config/config.ts'
import { createIncoming } from '../interfaces/submission/incoming.ts'
import { type Admission, startSubmissionListener } from '../interfaces/submission/listener.ts'
import { createMessageReader } from '../interfaces/submission/message-reader.ts'
import { createSignIn } from '../interfaces/submission/sign-in.ts'
import { createSubmit, refusalReply } from '../interfaces/submission/submit.ts'
import type { Id } from '../lib/ids.ts'
import { networks } from '../lib/networks.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import { closedFor } from '../pipeline/accept/refusal.ts'
import { createMailReport } from '../pipeline/inbound/mail-report.ts'
import { ReplyError } from '../pipeline/inbound/reply.ts'
import { foldAddress } from '../protocols/smtp/address.ts'
import type { AccessTokens } from '../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../resources/accounts/api-keys.ts'
import type { RateLimit } from '../resources/accounts/rate-limit.ts'
import { createSignInReport } from '../resources/accounts/sign-in-report.ts'
import { findAccountOfUser } from '../resources/accounts/user-rows.ts'
import type { Db } from '../store/model/schema.ts'
import type { AppContext } from './context.ts'
import { fdBudget } from './fd-budget.ts'

/** Services of the API that submission uses, too. */
interface SubmissionParts {
  accept: Accept
  apiKeys: ApiKeys
  accessTokens: AccessTokens
  /** Undefined when the rate is not limited. */
  rateLimit: RateLimit | undefined
}

export interface SubmissionService {
  /** Address of the listener with STARTTLS; null when it is off. */
  submission: { address: string; port: number } | null
  /** Address of the listener with implicit TLS; null when it is off. */
  submissionTls: { address: string; port: number } | null
  /** Address of the listener for trusted networks, which needs no login; null when it is off. */
  relay: { address: string; port: number } | null
}

type ListenerName = 'submission' | 'submission_tls' | 'relay'
type Place = { host: string; port: number }

/** @throws when a listener cannot be bound */
export async function startSubmissionService(
  {
    config,
    clock,
    log,
    store,
    metrics,
    newId,
    stack,
    security,
    serviceMode,
    workers,
    largeInput,
  }: AppContext,
  { accept, apiKeys, accessTokens, rateLimit }: SubmissionParts,
): Promise<SubmissionService> {
  const { mailHost } = config
  const { submission, submissionTls, relay } = config.smtp
  const { hideOrigin: hidesOrigin } = submission
  const reader = createMessageReader({ readers: workers.readers, newId, mailHost, hidesOrigin, clock, log })
  const submit = createSubmit(accept, reader)
  const incoming = createIncoming(largeInput)
  const admit = (accountId: Id) => {
    const closed = closedFor(serviceMode.current)
    if (closed) return refusalReply(closed)
    const hasRoom = rateLimit === undefined || rateLimit.take(accountId) !== undefined
    return hasRoom ? null : new ReplyError(450, '4.7.1 Too many messages a second, try again shortly')
  }
  const open = async (name: ListenerName, listen: Place | null, admission: Admission) => {
    if (!listen) return null
    const listener = await startSubmissionListener({
      listen,
      isTls: name === 'submission_tls',
      connectionsMax: fdBudget(config).smtp,
      trustedProxies: networks(config.smtp.trustedProxies),
      mailHost,
      certificates: security.certificates,
      admission,
      admit,
      submit,
      incoming,
      report: createMailReport({ metrics, log, clock }, name),
      clock,
      log,
    })
    stack.defer(listener.close)
    return listener.address()
  }
  const report = createSignInReport({ metrics, log, clock }, 'smtp')
  const login: Admission = { signIn: createSignIn({ apiKeys, accessTokens, clock, report }) }
  return {
    submission: await open('submission', submission.listen, login),
    submissionTls: await open('submission_tls', submissionTls.listen, login),
    relay: relay.listen && (await open('relay', relay.listen, await nearby(relay, store.db))),
  }
}

/** @throws when the account of the relay does not exist */
async function nearby({ networks: entries, account }: Config['smtp']['relay'], db: Db): Promise<Admission> {
  const accountId = await findAccountOfUser(db, account && foldAddress(account))
  if (!accountId) throw new Error(`smtp.relay.account: there is no user ${account}`)
  return { networks: networks(entries), sender: { accountId, apiKeyId: null, domain: null } }
}
