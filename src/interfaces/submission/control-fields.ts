/**
 * Reads the header fields of a submitted message that control how Mailhorn sends it: idempotency key, time of
 * delivery and tags. They are removed before the message is sent.
 */

import { parseIsoTime } from '../../lib/iso-time.ts'
import { tagsFault } from '../../pipeline/accept/field-rules.ts'
import { KEY_CHARACTERS_MAX } from '../../pipeline/accept/idempotency.ts'
import { type Refusal, refuseField } from '../../pipeline/accept/refusal.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'

export interface Control {
  idempotencyKey: string | null
  /** Time of delivery, in ms since the epoch. */
  scheduledAt: number | null
  tags: { name: string; value: string }[]
}

const IDEMPOTENCY_KEY = /^(?:resend|x)-idempotency-key$/
const SCHEDULED_AT = 'x-scheduled-at'
const TAG = /^x-tag-(.+)$/i
/** Fields that name hidden or former recipients, or that only Mailhorn may set. */
const REMOVED =
  /^(?:(?:resent-|x-)?bcc|return-path|(?:x-)?(?:delivered|envelope|apparently)-to|x-original-to|x-rcpt-to|x-mailhorn-.*)$/
/** Fields that name hosts, addresses, users, scripts or programs behind the sender. */
const OF_ORIGIN =
  /^(?:received|x-(?:originating|php|authenticated)-.*|x-ms-exchange-(?:organization|crosstenant|transport)-.*|x-source(?:-.*)?|x-(?:client|sender|remote|real|user)-(?:ip|addr|address|host)|x-(?:ip|hostname|originatororg|antiabuse|get-message-sender-via|forwarded-for|mailer)|user-agent)$/

/** Tells whether a field is not sent to recipients. @param hidesOrigin the setting `hide_origin` */
export function isRemoved({ name }: HeaderField, hidesOrigin: boolean): boolean {
  const key = name.toLowerCase()
  if (hidesOrigin && OF_ORIGIN.test(key)) return true
  return IDEMPOTENCY_KEY.test(key) || key === SCHEDULED_AT || TAG.test(key) || REMOVED.test(key)
}

/** @param fields fields with unfolded and decoded values */
export function readControl(fields: readonly HeaderField[]): Control | Refusal {
  const control: Control = { idempotencyKey: null, scheduledAt: null, tags: [] }
  for (const { name, value } of fields) {
    const key = name.toLowerCase()
    if (IDEMPOTENCY_KEY.test(key)) {
      if (value === '' || value.length > KEY_CHARACTERS_MAX)
        return refuseField(
          'invalid_field',
          name,
          `The \`${name}\` header must have 1 to ${KEY_CHARACTERS_MAX} characters.`,
        )
      control.idempotencyKey = value
    } else if (key === SCHEDULED_AT) {
      const at = parseIsoTime(value)
      if (at === undefined)
        return refuseField(
          'invalid_field',
          name,
          `The \`${name}\` header must be a time in ISO 8601 with an offset or Z.`,
        )
      control.scheduledAt = at
    } else {
      const tag = TAG.exec(name)?.[1]
      if (tag !== undefined) control.tags.push({ name: tag, value })
    }
  }
  const fault = tagsFault(control.tags)
  if (fault !== undefined) return refuseField('invalid_field', 'tags', fault)
  return control
}
