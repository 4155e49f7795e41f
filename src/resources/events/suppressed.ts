/** Mail that is kept from a recipient: why, and the event that tells of it. */

export const ON_SUPPRESSION_LIST = 'The address is on the suppression list.'

export function suppressedEvent(message: string) {
  return { type: 'email.suppressed' as const, data: { suppressed: { message, type: 'Suppressed' } } }
}
