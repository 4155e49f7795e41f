import * as assert from 'uvu/assert'
import { loadMallocTrim, mallocTrimmer } from '../../../src/lib/malloc-trim.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/malloc-trim')

/** A process of which each look says how much CPU time it has used since the last one. */
function scripted() {
  const state = { cpuMs: 3_000, trims: 0 }
  const check = mallocTrimmer({ cpuMs: () => state.cpuMs, trim: () => void state.trims++ })
  return {
    state,
    after(...cpuMs: number[]) {
      for (const used of cpuMs) {
        state.cpuMs += used
        check()
      }
      return state.trims
    },
  }
}

test('malloc trim: memory is trimmed once the process has been quiet for three looks after its start', () => {
  const { after } = scripted()
  assert.is(after(2_000, 10, 10), 0)
  assert.is(after(10), 1)
})

test('malloc trim: a process that stays quiet is not trimmed again', () => {
  const { after } = scripted()
  assert.is(after(10, 10, 10), 1)
  assert.is(after(...Array.from({ length: 40 }, () => 10)), 1)
})

test('malloc trim: a process that works is trimmed only when it is quiet again', () => {
  const { after } = scripted()
  after(10, 10, 10)
  assert.is(after(5_000, 5_000, 10, 10, 5_000, 10, 10), 1)
  assert.is(after(10), 2)
})

test('malloc trim: the function of the C library can be called where it is glibc', async () => {
  const trim = await loadMallocTrim()
  const { glibcVersionRuntime } = (process.report.getReport() as { header: Record<string, string> }).header
  assert.is(trim !== undefined, glibcVersionRuntime !== undefined)
  trim?.()
})

test.run()
