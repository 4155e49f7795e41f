/** Request bodies read as the service reads them, over a store of their own. */

import { createReadBody, type ReadBody } from '../../src/interfaces/api/body/body.ts'
import { createLargeBodies, type LargeBodies } from '../../src/interfaces/api/body/large-bodies.ts'
import { createPreparation, type Preparation } from '../../src/pipeline/accept/prepare.ts'
import { createReadyTemplates } from '../../src/resources/templates/ready.ts'
import { largeInput } from './large-input.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { openReaders } from './readers.ts'
import { type LocalStore, openLocalStore } from './store.ts'

export interface BodyReading {
  clock: ManualClock
  store: LocalStore<Awaited<ReturnType<typeof openLocalStore>> extends LocalStore<infer C> ? C : never>
  preparation: Preparation
  large: LargeBodies
  readBody: ReadBody
  close(): Promise<void>
}

/** @param entry of the processes that read, in place of the service's */
export async function openBodyReading({ entry }: { entry?: URL } = {}): Promise<BodyReading> {
  const store = await openLocalStore()
  const readers = openReaders({ location: store.location, ...(entry && { entry }) })
  const clock = createManualClock()
  const large = createLargeBodies(readers, largeInput({ clock }))
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  return {
    store,
    preparation,
    large,
    clock,
    readBody: createReadBody(large, preparation),
    async close() {
      await readers.close()
      await store.close()
    },
  }
}
