import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createCredentialMemory } from '../../../../src/resources/accounts/credential-memory.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/credential-memory')

interface Credential {
  name: string
}

function open() {
  const clock = createManualClock()
  /** Look-ups that wait for their answer. */
  const loads: ((found: Credential | undefined) => void)[] = []
  const uses: { ids: Id[]; at: number }[] = []
  const faults: unknown[] = []
  let fails = false
  const memory = createCredentialMemory<Credential>({
    load: () => new Promise(resolve => loads.push(resolve)),
    async writeUse(ids, at) {
      if (fails) throw new Error('disk full')
      uses.push({ ids, at })
    },
    onUseNotWritten: error => faults.push(error),
    clock,
  })
  const find = async (token: string, found: Credential | undefined) => {
    const finding = memory.find(token)
    loads.pop()?.(found)
    return finding
  }
  return {
    ...{ memory, clock, loads, uses, faults, find },
    fail() {
      fails = true
    },
  }
}

test('a credential is looked up once, an unknown token each time', async () => {
  const { memory, loads, find } = open()
  assert.equal(await find('a', { name: 'a' }), { name: 'a' })
  assert.equal(await memory.find('a'), { name: 'a' })
  assert.is(await find('b', undefined), undefined)
  void memory.find('b')
  assert.is(loads.length, 1)
})

test('after a deletion, credentials are looked up again', async () => {
  const { memory, find } = open()
  await find('a', { name: 'a' })
  memory.forget()
  assert.is(await find('a', undefined), undefined)
})

test('a credential that is deleted while it is looked up is not remembered', async () => {
  const { memory, loads, find } = open()
  const finding = memory.find('a')
  memory.forget()
  loads.pop()!({ name: 'a' })
  assert.equal(await finding, { name: 'a' })
  assert.is(await find('a', undefined), undefined)
})

test('uses are written once a minute, each credential once', async () => {
  const { memory, clock, uses } = open()
  const [one, two] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)]
  for (const id of [one, two, one]) memory.noteUse(id)
  await clock.advance(59_999)
  assert.equal(uses, [])
  await clock.advance(1)
  assert.equal(uses, [{ ids: [one, two], at: clock.now() }])
  await memory.close()
  assert.is(uses.length, 1)
  assert.is(clock.timerCount, 0)
})

test('a use that cannot be written is reported', async () => {
  const { memory, clock, faults, fail } = open()
  fail()
  memory.noteUse(new Uint8Array(16))
  await clock.advance(60_000)
  await settled()
  assert.is(faults.length, 1)
})

test.run()
