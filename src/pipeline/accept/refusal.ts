/** Refusals of submissions. One table maps each kind to its HTTP and its SMTP reply. */
import type { ServiceMode } from '../queue/service-mode.ts'

/** `http` and `name` are for the API, whose clients know a closed list of names; `reply` is for SMTP. */
export const REFUSALS = {
  missing_field: { http: 422, name: 'missing_required_field', reply: '550 5.6.0' },
  invalid_field: { http: 422, name: 'validation_error', reply: '550 5.6.0' },
  invalid_from: { http: 422, name: 'invalid_from_address', reply: '550 5.1.7' },
  invalid_attachment: { http: 422, name: 'invalid_attachment', reply: '550 5.6.0' },
  too_many_recipients: { http: 422, name: 'validation_error', reply: '452 4.5.3' },
  busy: { http: 503, name: 'application_error', reply: '451 4.3.2' },
  message_too_large: { http: 413, name: 'validation_error', reply: '552 5.3.4' },
  unknown_template: { http: 404, name: 'not_found', reply: '550 5.6.0' },
  unknown_reference: { http: 404, name: 'not_found', reply: '550 5.6.0' },
  foreign_domain: { http: 403, name: 'invalid_access', reply: '550 5.7.1' },
  not_scheduled: { http: 422, name: 'validation_error', reply: '550 5.5.1' },
  wrong_state: { http: 422, name: 'validation_error', reply: '550 5.5.1' },
  domain_banned: { http: 403, name: 'invalid_access', reply: '550 5.7.1' },
  domain_not_verified: { http: 403, name: 'validation_error', reply: '550 5.7.1' },
  service_closed: { http: 503, name: 'application_error', reply: '451 4.3.2' },
  account_suspended: { http: 403, name: 'invalid_access', reply: '550 5.7.1' },
  daily_quota: { http: 429, name: 'daily_quota_exceeded', reply: '451 4.7.1' },
  monthly_quota: { http: 429, name: 'monthly_quota_exceeded', reply: '451 4.7.1' },
  mail_loop: { http: 422, name: 'validation_error', reply: '554 5.4.6' },
  idempotency_running: { http: 409, name: 'concurrent_idempotent_requests', reply: '451 4.3.2' },
  idempotency_mismatch: { http: 409, name: 'invalid_idempotent_request', reply: '550 5.5.4' },
} as const

type RefusalKind = keyof typeof REFUSALS

/** A fault of one field. `path` is in wire spelling, as in `attachments[0].filename`. */
export interface FieldProblem {
  path: string
  message: string
}

/** A refusal is a value and not an exception. The submission is not accepted and nothing has changed. */
export interface Refusal {
  refused: RefusalKind
  message: string
  errors?: FieldProblem[]
}

export function refuseField(refused: RefusalKind, path: string, message: string): Refusal {
  return { refused, message, errors: [{ path, message }] }
}

export const ACCOUNT_SUSPENDED: Refusal = {
  refused: 'account_suspended',
  message: 'The account is suspended, so new email is refused. Contact the operator of this service.',
}

/** Refusal of email from a domain that the operator has banned. */
export function refuseBanned(name: string): Refusal {
  const message = `The ${name} domain in \`from\` is banned by the operator of this service, so email from it is refused.`
  return refuseField('domain_banned', 'from', message)
}

/** Refusal of new email in this mode of the service; undefined in the normal mode. */
export function closedFor({ mode }: Pick<ServiceMode, 'mode'>): Refusal | undefined {
  if (mode === 'normal') return undefined
  const state = mode === 'draining' ? 'delivers what is queued and accepts no new email' : 'is read-only'
  return { refused: 'service_closed', message: `The service ${state} at present. Try again later.` }
}

/** The topic of another account gives the same answer as a topic that does not exist. */
export const UNKNOWN_TOPIC = refuseField('unknown_reference', 'topic_id', 'Topic not found (`topic_id`).')

/** Turns the refusal of one email into the refusal of its batch. */
export function refuseAt(index: number, { refused, message, errors }: Refusal): Refusal {
  return {
    refused,
    message: `[${index}]: ${message}`,
    errors: (errors ?? [{ path: '', message }]).map(error => atIndex(index, error)),
  }
}

/** Prefixes a path with the position in the batch, as in `[3].to`. */
export function atIndex(index: number, { path, message }: FieldProblem): FieldProblem {
  return { path: path === '' ? `[${index}]` : `[${index}].${path}`, message }
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value
}
