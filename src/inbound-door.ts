/** Port 25 and what becomes of what it takes: a part of the composition root. */
import type { AddressInfo } from 'node:net'
import { doorOf } from './inbound/doors.ts'
import { startFeedback } from './inbound/feedback.ts'
import { startInboundListener, type TakenMail } from './inbound/listener.ts'
import { createReportReader } from './inbound/report-reader.ts'
import type { Parts } from './parts.ts'
import { createBlobClaims } from './store/blob-claims.ts'

export interface InboundDoor {
  /** Null where it is off. */
  address: AddressInfo | null
  close(): Promise<void>
}

/** @throws when the address is not to be had, or a certificate cannot be read */
export async function startInboundDoor(parts: Parts): Promise<InboundDoor> {
  const { config, clock, log, store, secrets, certificates } = parts
  const { mailHost } = config
  const { listen } = config.smtp.inbound
  if (listen === null || !config.roles.includes('all')) return { address: null, close: async () => {} }
  const entry = new URL('./report-thread.ts', import.meta.url)
  const reader = createReportReader({ entry, clock, log })
  const feedback = startFeedback({ ...store, reader, secrets, clock, log })
  const take = createTake(parts)
  const close = async () => {
    await feedback.stop()
    await reader.close()
  }
  try {
    const listener = await startInboundListener({
      listen,
      mailHost,
      certificates,
      doorOf: recipient => doorOf(recipient, clock.now(), { secrets, mailHost }),
      async take(mail) {
        await take(mail)
        feedback.note()
      },
      clock,
      log,
    })
    return {
      address: listener.address(),
      async close() {
        await listener.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function createTake({ store, clock, log }: Parts): (mail: TakenMail) => Promise<void> {
  const claims = createBlobClaims({
    blobs: store.blobs,
    db: store.db,
    onLeftBehind: error => log.warn({ err: error }, 'a file of an inbound message was left behind'),
  })
  return async ({ bytes, ...mail }) => {
    const blob = await store.blobs.stage(bytes)
    const claim = claims.open([blob])
    let isSettled = false
    try {
      await claim.place([blob])
      await store.run('storeReports', { ...mail, blob, at: clock.now() })
      isSettled = true
    } finally {
      await claim.end(isSettled)
    }
  }
}
