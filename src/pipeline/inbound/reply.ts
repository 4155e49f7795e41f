/** SMTP error replies of the listeners, as the errors that smtp-server expects. */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { throttledLog } from '../../lib/throttled-log.ts'
import { StorageUnavailable } from '../../store/model/command.ts'

export class ReplyError extends Error {
  readonly responseCode: number

  /** @param text reply text that begins with its enhanced status code (RFC 3463) */
  constructor(responseCode: number, text: string) {
    super(text)
    this.responseCode = responseCode
  }
}

/** Maps an error to the SMTP reply for a message that was not accepted. */
export type ReplyTo = (error: unknown) => ReplyError

/** @param unavailable reply code used while the store is unavailable */
export function createReplyTo(unavailable: number, { log, clock }: { log: Log; clock: Clock }): ReplyTo {
  const warn = throttledLog(
    { log, clock },
    'warn',
    'smtp_messages_deferred',
    'Messages are refused with 4xx: the service is overloaded or the store is unavailable',
  )
  return error => {
    if (error instanceof ReplyError) return error
    if (error instanceof StorageUnavailable) {
      warn({ err: error })
      return new ReplyError(unavailable, '4.3.1 The store is not available, try again later')
    }
    log.error(
      { event: 'smtp_message_failed', err: error },
      'A message could not be accepted because of an internal error',
    )
    return new ReplyError(451, '4.3.0 Something is wrong here, try again later')
  }
}
