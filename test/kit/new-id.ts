import { createIdSource, type IdSource } from '../../src/lib/ids.ts'

let source = createIdSource()

/** Ids of the test file: never of an earlier time than the one before, as those of a process. */
export const newId: IdSource = nowMs => source(nowMs)

/** Begins anew. The next file of the process has a clock of its own, which may begin at an earlier time. */
export function resetIds(): void {
  source = createIdSource()
}
