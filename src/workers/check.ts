/** Entry of the worker thread that checks the pages of the database after the service was killed. */
import { workerData } from 'node:worker_threads'
import { serveThread } from '../lib/serve-thread.ts'
import { faultInPages, openReader, type StoreLocation } from '../store/opening/dialect.ts'

const { location } = workerData as { location: StoreLocation }

await openReader(location).db.destroy() // loads the native module
serveThread({ check: async () => faultInPages(location) })
