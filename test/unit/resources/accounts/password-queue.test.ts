import * as assert from 'uvu/assert'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { createPasswordQueue, type PasswordTurn } from '../../../../src/resources/accounts/password-queue.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/password-queue')

const stranger = (owner: string, part = owner): PasswordTurn => ({ owner, part, standing: 'stranger' })
const known = (owner: string): PasswordTurn => ({ owner, standing: 'known' })
const OPERATOR: PasswordTurn = { owner: 'operator', standing: 'operator' }

/** Tasks that run until the test ends the one that began first. */
function openQueue() {
  const queue = createPasswordQueue()
  const began: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  const ask = (turn: PasswordTurn, name = turn.owner) => {
    const task = () => {
      began.push(name)
      return new Promise<void>(resolve => ends.push(resolve))
    }
    queue.run(turn, task).catch(error => {
      assert.instance(error, TooManyWaiting)
      refused.push(name)
    })
  }
  return {
    began,
    refused,
    async ask(turns: readonly PasswordTurn[]) {
      for (const turn of turns) ask(turn)
      await settled()
    },
    /** Ends running tasks one after another. @returns the owners of those that began */
    async end(count: number): Promise<string[]> {
      const before = began.length
      for (let i = 0; i < count; i++) {
        ends.shift()!()
        await settled()
      }
      return began.slice(before)
    },
  }
}

const times = (count: number, make: (i: number) => PasswordTurn): PasswordTurn[] =>
  Array.from({ length: count }, (_, i) => make(i))

test('password queue: two tasks run at a time, others in order', async () => {
  const { ask, end, began } = openQueue()
  await ask(['a', 'b', 'c', 'd'].map(owner => stranger(owner)))
  assert.equal(began, ['a', 'b'])
  assert.equal(await end(4), ['c', 'd'])
})

test('password queue: a flooding network has four waiting attempts and does not delay others', async () => {
  const { ask, end, refused } = openQueue()
  await ask(times(60, () => stranger('flood')))
  assert.is(refused.length, 54)
  await ask([stranger('victim')])
  assert.equal(await end(1), ['victim'])
})

test('password queue: a /48 has eight waiting attempts and is served as one owner', async () => {
  const { ask, end, refused } = openQueue()
  await ask(times(100, i => stranger('site', `site ${i}`)))
  assert.is(refused.length, 90)
  await ask([stranger('victim'), stranger('another')])
  assert.equal(await end(4), ['victim', 'site', 'another', 'site'])
})

test('password queue: when full, a first attempt displaces the last of a network with several', async () => {
  const { ask, refused, end } = openQueue()
  for (let i = 0; i < 12; i++) await ask(times(5, () => stranger(`flood ${i}`)))
  const before = refused.length
  await ask([stranger('victim')])
  assert.equal([refused.length, refused.includes('victim')], [before + 1, false])
  assert.ok((await end(32)).includes('victim'))
})

test('password queue: when full with one attempt per network, strangers are refused', async () => {
  const { ask, refused } = openQueue()
  await ask(times(340, i => stranger(`network ${i}`)))
  assert.is(refused.length, 306)
  assert.equal([refused[0], refused.at(-1)], ['network 34', 'network 339'])
})

test('password queue: known places are served first and displace strangers', async () => {
  const { ask, end, refused } = openQueue()
  await ask(times(34, i => stranger(`network ${i}`)))
  await ask([known('ann'), known('bob')])
  assert.equal(refused, ['network 33', 'network 32'])
  assert.equal(await end(3), ['ann', 'bob', 'network 2'])
})

test('password queue: a stranger is served after three known places', async () => {
  const { ask, end } = openQueue()
  await ask([...times(4, i => stranger(`network ${i}`)), ...times(8, i => known(`user ${i}`))])
  const expected = 'user 0, user 1, user 2, network 2, user 3, user 4, user 5, network 3, user 6, user 7'
  assert.is((await end(10)).join(', '), expected)
})

test('password queue: the known places of an account have eight waiting attempts', async () => {
  const { ask, end, refused } = openQueue()
  await ask(times(100, () => known('busy')))
  assert.is(refused.length, 90)
  await ask([known('ann')])
  assert.equal(await end(2), ['ann', 'busy'])
})

test('password queue: operator tasks may fill the queue and are displaced by others', async () => {
  const { ask, end, refused } = openQueue()
  await ask(times(340, () => OPERATOR))
  assert.is(refused.length, 306)
  await ask([known('ann')])
  assert.is(refused.length, 307)
  assert.equal(await end(2), ['ann', 'operator'])
})

test('password queue: failed tasks release their place', async () => {
  const queue = createPasswordQueue()
  for (let i = 0; i < 5; i++) {
    const error = await queue
      .run(OPERATOR, () => Promise.reject(new Error('damaged')))
      .catch(reason => reason)
    assert.is(error.message, 'damaged')
  }
  assert.is(await queue.run(OPERATOR, async () => 'done'), 'done')
})

test.run()
