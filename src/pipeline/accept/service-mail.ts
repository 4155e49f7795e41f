/**
 * Sends mail of the service itself, such as notices: an email of an account like any other, which counts
 * against no quota. Called by the notices of webhooks, delivery status notifications and alerts.
 */
import { hash } from 'node:crypto'
import type { Id } from '../../lib/ids.ts'
import type { Accept } from './accept.ts'
import type { Preparation } from './prepare.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import type { Accepted, Submission } from './submission.ts'

export interface ServiceMail {
  accept: Pick<Accept, 'send'>
  preparation: Pick<Preparation, 'email'>
}

/** @returns the refusal; undefined when it is accepted */
export async function sendServiceMail(
  service: ServiceMail,
  accountId: Id,
  submission: Submission,
  about: MailOccasion,
): Promise<Refusal | undefined> {
  const accepted = await acceptServiceMail(service, accountId, submission, about)
  return isRefusal(accepted) ? accepted : undefined
}

interface MailOccasion {
  kind: string
  name: string
}

/**
 * @param about kind of the mail, and a name for its occasion: the same is not sent again within the time for
 *   which idempotency keys are stored
 * @returns the ids of the first time when it was accepted before
 */
export async function acceptServiceMail(
  { accept, preparation }: ServiceMail,
  accountId: Id,
  submission: Submission,
  about: MailOccasion,
): Promise<Accepted | Refusal> {
  const prepared = await preparation.email(accountId, submission)
  const bodyHash = hash('sha256', about.name, 'buffer')
  const idempotency = { endpoint: about.kind, key: bodyHash.toString('hex'), bodyHash }
  const sender = { accountId, apiKeyId: null, domain: null, isService: true } as const
  return accept.send(sender, prepared, idempotency)
}
