/** Fields and operators of filters on contacts. Pure: the dashboard bundles this file. */

export const TEXT_OPS = ['eq', 'neq', 'contains', 'exists', 'not_exists'] as const
/** Whether a value equals one of several. */
export const LIST_OPS = ['in'] as const
/** Whether a time is within the last so many days; a time that never was is not. */
export const PERIOD_OPS = ['within_days', 'not_within_days'] as const
/** Whether a time is before, or not before, another one. */
export const DATE_OPS = ['before', 'after'] as const
export const FILTER_OPS = [...TEXT_OPS, ...LIST_OPS, ...PERIOD_OPS, ...DATE_OPS] as const
const TEXT_FIELDS = ['email', 'first_name', 'last_name', 'unsubscribed'] as const
/** When a contact was added, was last sent an email, and last opened one or clicked a link in one. */
export const TIME_FIELDS = ['created_at', 'last_sent_at', 'last_opened_at', 'last_clicked_at'] as const
export const FILTER_FIELDS = [...TEXT_FIELDS, ...TIME_FIELDS] as const
/** Prefix of the key of a property in a filter. */
export const PROPERTY_PREFIX = 'properties.'

export type FilterOp = (typeof FILTER_OPS)[number]

export function isPropertyField(field: string): boolean {
  return field.startsWith(PROPERTY_PREFIX)
}

/** Returns the operators that a field has. */
export function opsOf(field: string): readonly FilterOp[] {
  if (field === 'created_at') return [...PERIOD_OPS, ...DATE_OPS]
  if (TIME_FIELDS.some(time => time === field)) return PERIOD_OPS
  if (field === 'unsubscribed') return TEXT_OPS
  return isPropertyField(field) ? FILTER_OPS : [...TEXT_OPS, ...LIST_OPS]
}
