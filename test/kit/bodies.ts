/** Request bodies read as the service reads them, over a store of their own. */
import { pino } from 'pino'
import { createPreparation, type Preparation } from '../../src/accept/prepare.ts'
import { createReadBody, type ReadBody } from '../../src/http/body.ts'
import { createLargeBodies, type LargeBodies } from '../../src/http/large-bodies.ts'
import { createReadyTemplates } from '../../src/templates/ready.ts'
import { type LocalStore, openLocalStore } from './store.ts'

export interface BodyReading {
  store: LocalStore<Awaited<ReturnType<typeof openLocalStore>> extends LocalStore<infer C> ? C : never>
  preparation: Preparation
  large: LargeBodies
  readBody: ReadBody
  close(): Promise<void>
}

/** @param entry of the body thread, in place of the service's */
export async function openBodyReading({
  entry = new URL('../../src/body-thread.ts', import.meta.url),
}: {
  entry?: URL
} = {}): Promise<BodyReading> {
  const store = await openLocalStore()
  const { location } = store
  const large = createLargeBodies({ entry, location, log: pino({ level: 'silent' }) })
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  return {
    store,
    preparation,
    large,
    readBody: createReadBody(large, preparation),
    async close() {
      await large.close()
      await store.close()
    },
  }
}
