/** What becomes of a request whose emails are taken. */
import type { Id } from '../../lib/ids.ts'

export interface Accepted {
  /** Of the emails taken, in the order of the request. */
  ids: Id[]
  /** The emails of a permissive batch that were refused, by index. */
  leftOut: LeftOut[]
}

export interface LeftOut {
  /** Its place in the batch, from 0. */
  index: number
  message: string
}
