/** Header fields that speak to us: they say how the message is to be sent, and do not leave with it. */

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
/** They name hidden recipients, or are ours to write. */
const TAKEN_OUT = /^(?:bcc|resent-bcc|return-path|x-mailhorn-.*)$/

/** Whether a field is for us, and not for the recipients. */
export function staysHere({ name }: HeaderField): boolean {
  const key = name.toLowerCase()
  return IDEMPOTENCY_KEY.test(key) || key === SCHEDULED_AT || TAG.test(key) || TAKEN_OUT.test(key)
}

/** @param fields values unfolded and decoded */
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
