/**
 * Keeps the time of a broadcast that is unscheduled to be edited, since the server forgets it. The review
 * before sending begins with it, so that a quick click does not send at once what was meant for later.
 */
import { localInput } from '../labels/time.ts'

const PREFIX = 'mailhorn.former-time.'

/** @param at time that the broadcast was scheduled for */
export function keepFormerTime(id: string, at: string): void {
  try {
    sessionStorage.setItem(PREFIX + id, at)
  } catch {
    // storage is disabled or full; the review begins with "Now" then
  }
}

/** Returns the time as a value of a `datetime-local` field; undefined unless it lies ahead. */
export function formerTime(id: string, now = Date.now()): string | undefined {
  const at = keptTime(id)
  return at !== null && Date.parse(at) > now ? localInput(at) : undefined
}

function keptTime(id: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + id)
  } catch {
    return null
  }
}
