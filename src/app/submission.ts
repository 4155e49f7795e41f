/** The doors for mail programs, on ports 587 and 465: a part of the composition root. */

import type { Config } from '../config/config.ts'
import { createIncoming } from '../interfaces/submission/incoming.ts'
import { type Admission, startSubmissionListener } from '../interfaces/submission/listener.ts'
import { createMessageReader } from '../interfaces/submission/message-reader.ts'
import { createSignIn } from '../interfaces/submission/sign-in.ts'
import { createSubmit } from '../interfaces/submission/submit.ts'
import { createIdSource } from '../lib/ids.ts'
import { networks } from '../lib/networks.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import { countMail } from '../pipeline/inbound/mail-counts.ts'
import { foldAddress } from '../protocols/smtp/address.ts'
import type { ApiKeys } from '../resources/accounts/api-keys.ts'
import type { RateLimit } from '../resources/accounts/rate-limit.ts'
import { createSignInReport } from '../resources/accounts/sign-in-report.ts'
import { findAccountOfUser } from '../resources/accounts/user-rows.ts'
import type { Db } from '../store/schema.ts'
import type { AppContext } from './context.ts'
import { fdBudget } from './fd-budget.ts'

interface Behind {
  accept: Accept
  apiKeys: ApiKeys
  /** Undefined where the rate is not limited. */
  rateLimit: RateLimit | undefined
}

export interface SubmissionService {
  /** STARTTLS; null where it is off. */
  submission: { address: string; port: number } | null
  /** TLS from the first octet. */
  submissionTls: { address: string; port: number } | null
  /** For trusted networks, without a login. */
  relay: { address: string; port: number } | null
}

type Door = 'submission' | 'submission_tls' | 'relay'
type Place = { host: string; port: number }

/** Messages that are on their way in, or wait to be read. */
const SIZE_BYTES_MAX = 256 * 1024 * 1024

/** @param started gets what is to be closed, in the order of the starts */
export async function startSubmissionService(
  { config, clock, log, store, certificates, metrics, readers }: AppContext,
  { accept, apiKeys, rateLimit }: Behind,
  started: (() => unknown)[],
): Promise<SubmissionService> {
  const reader = createMessageReader({ readers, newId: createIdSource(), clock, log })
  const common = {
    mailHost: config.mailHost,
    connectionsMax: fdBudget(config).smtp,
    certificates,
    spend: (accountId: Uint8Array) => rateLimit === undefined || rateLimit.take(accountId) !== undefined,
    submit: createSubmit(accept, reader),
    incoming: createIncoming(SIZE_BYTES_MAX),
    clock,
    log,
  }
  const open = async (name: Door, listen: Place | null, admission: Admission) => {
    if (!listen) return null
    const isTls = name === 'submission_tls'
    const counts = countMail(metrics, name)
    const listener = await startSubmissionListener({ ...common, counts, listen, isTls, admission })
    started.push(listener.close)
    return listener.address()
  }
  const { submission, submissionTls, relay } = config.smtp
  const report = createSignInReport({ metrics, log, clock }, 'smtp')
  const login: Admission = { signIn: createSignIn({ apiKeys, clock, report }) }
  return {
    submission: await open('submission', submission.listen, login),
    submissionTls: await open('submission_tls', submissionTls.listen, login),
    relay: relay.listen && (await open('relay', relay.listen, await nearby(relay, store.db))),
  }
}

/** @throws when there is no such account */
async function nearby({ networks: entries, account }: Config['smtp']['relay'], db: Db): Promise<Admission> {
  const accountId = await findAccountOfUser(db, account && foldAddress(account))
  if (!accountId) throw new Error(`smtp.relay.account: there is no user ${account}`)
  return { networks: networks(entries), sender: { accountId, apiKeyId: null, domain: null } }
}
