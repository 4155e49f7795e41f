import * as assert from 'uvu/assert'
import { createGuessGuard, type Guess } from '../../../../src/resources/accounts/guess-guard.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/guess-guard')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ANN = 'ann@here.example'

interface Case extends Partial<Guess> {
  right?: boolean
}

function openGuard() {
  const clock = createManualClock()
  const guard = createGuessGuard(clock)
  const guess = ({ right = false, ...guess }: Case = {}) =>
    guard.hear({ address: '192.0.2.1', account: ANN, isKnownPlace: false, ...guess }, async () => right)
  return {
    clock,
    guard,
    guess,
    /**
     * Returns how many guesses were evaluated before the first refused one; all of them if none was refused.
     */
    async wrongCount(guesses: Case[]) {
      for (const [i, one] of guesses.entries()) if ((await guess(one)).kind === 'too-many') return i
      return guesses.length
    },
    async fail(times: number, one: Case = {}) {
      for (let i = 0; i < times; i++) assert.equal(await guess(one), { kind: 'wrong' })
    },
  }
}

const each = (count: number, make: (i: number) => Case): Case[] =>
  Array.from({ length: count }, (_, i) => make(i))
const ipv4 = (i: number) => `203.0.${113 + Math.floor(i / 256)}.${i % 256}`
const hex = (n: number) => n.toString(16)

/** The rules: how many wrong guesses in a row are answered, and the counter that stops the next one. */
const RULES: [string, Case[], number, string | undefined][] = [
  ['one IPv4 address, one account', each(30, () => ({})), 5, 'network_and_account'],
  [
    '27 addresses of one IPv6 /64, one account',
    each(27, i => ({ address: `2001:db8::${hex(i + 1)}` })),
    5,
    'network_and_account',
  ],
  [
    'many /64 of one /56, one account',
    each(27, i => ({ address: `2001:db8:0:${hex(i)}::1` })),
    5,
    'network_and_account',
  ],
  [
    '19 /56 of one /48, one account',
    each(19, i => ({ address: `2001:db8:0:${hex(i * 256)}::1` })),
    5,
    'network_and_account',
  ],
  [
    'four /56 of one /48, two guesses each',
    each(8, i => ({ address: `2001:db8:0:${i % 4}00::1` })),
    8,
    undefined,
  ],
  ['19 IPv4 addresses, one account', each(19, i => ({ address: ipv4(i) })), 10, 'account'],
  ['19 different /48, one account', each(19, i => ({ address: `2001:db8:${hex(i)}::1` })), 10, 'account'],
  ['one address, 40 accounts', each(40, i => ({ account: `user${i}@here.example` })), 20, 'network'],
  [
    '40 addresses of one /56, an account each',
    each(40, i => ({ address: `2001:db8::${hex(i + 1)}`, account: `user${i}@here.example` })),
    20,
    'network',
  ],
  [
    '40 different /56 of one /48, an account each',
    each(40, i => ({ address: `2001:db8:0:${hex(i * 256)}::1`, account: `user${i}@here.example` })),
    20,
    'network',
  ],
  [
    '300 addresses, an account each',
    each(300, i => ({ address: ipv4(i), account: `user${i}@here.example` })),
    300,
    undefined,
  ],
  ['a known place', each(30, () => ({ isKnownPlace: true })), 5, 'network_and_account'],
  [
    'one network, 40 accounts that know it',
    each(40, i => ({ account: `user${i}@here.example`, isKnownPlace: true })),
    40,
    undefined,
  ],
  [
    'one address where the secret names the account',
    each(30, () => ({ account: undefined })),
    5,
    'network_and_account',
  ],
  [
    '300 addresses where the secret names the account',
    each(300, i => ({ address: ipv4(i), account: undefined })),
    300,
    undefined,
  ],
]

for (const [what, guesses, answered, limit] of RULES)
  test(`${what}: ${limit ? `${answered} wrong guesses are answered` : 'all are answered'}`, async () => {
    const { wrongCount, guess } = openGuard()
    assert.is(await wrongCount(guesses), answered)
    if (!limit) return
    assert.equal(await guess({ ...guesses[answered]!, right: true }), {
      kind: 'too-many',
      waitMs: MINUTE_MS,
      limit,
    })
  })

test('guess guard: a right guess has to wait after the last free wrong one', async () => {
  const { fail, guess, clock } = openGuard()
  await fail(4)
  assert.equal(await guess({ right: true }), { kind: 'right' })
  await fail(5)
  assert.is((await guess({ right: true })).kind, 'too-many')
  clock.advance(MINUTE_MS)
  assert.equal(await guess({ right: true }), { kind: 'right' })
  await fail(5)
})

test('guess guard: a delayed guess is not checked', async () => {
  const { guard, fail } = openGuard()
  await fail(5)
  let isChecked = false
  await guard.hear({ address: '192.0.2.1', account: ANN, isKnownPlace: false }, async () => {
    isChecked = true
    return true
  })
  assert.not(isChecked)
})

test('guess guard: the wait of strangers doubles up to fifteen minutes', async () => {
  const { fail, guess, clock } = openGuard()
  let client = 0
  const stranger = () => ({ address: ipv4(client++) })
  for (let i = 0; i < 9; i++) await fail(1, stranger())
  const waits: number[] = []
  for (let i = 0; i < 6; i++) {
    await fail(1, stranger())
    const verdict = await guess({ ...stranger(), right: true })
    assert.is(verdict.kind, 'too-many')
    if (verdict.kind !== 'too-many') return
    waits.push(verdict.waitMs / MINUTE_MS)
    clock.advance(verdict.waitMs)
  }
  assert.equal(waits, [1, 2, 4, 8, 15, 15])
  assert.equal(await guess({ ...stranger(), right: true }), { kind: 'right' })
})

test('guess guard: a known place is not delayed by strangers, /48 neighbours or guesses at other accounts', async () => {
  const { fail, guess, wrongCount } = openGuard()
  const home = { address: '2001:db8:0:100::1', isKnownPlace: true }
  assert.is(await wrongCount(each(30, i => ({ address: ipv4(i) }))), 10)
  await wrongCount(each(19, i => ({ address: `2001:db8:0:${hex(i * 256)}::1`, account: 'bob@here.example' })))
  await wrongCount(each(40, i => ({ address: home.address, account: `user${i}@here.example` })))
  assert.is((await guess({ address: home.address, account: 'carol@here.example' })).kind, 'too-many')
  await fail(4, home)
  assert.equal(await guess({ ...home, right: true }), { kind: 'right' })
})

test('guess guard: wrong guesses at a known place do not delay strangers', async () => {
  const { guess, wrongCount } = openGuard()
  for (let i = 0; i < 4; i++)
    await wrongCount(each(5, () => ({ address: `192.0.2.${i}`, isKnownPlace: true })))
  assert.equal(await guess({ address: '203.0.113.1', right: true }), { kind: 'right' })
})

test('guess guard: more than four /56 of a /48 count as one network for an hour', async () => {
  const { fail, guess, clock } = openGuard()
  const at = (i: number, account: string) => ({ address: `2001:db8:0:${hex(i * 256)}::1`, account })
  for (let i = 0; i < 5; i++) await fail(1, at(i, 'bob@here.example'))
  for (let i = 5; i < 10; i++) await fail(1, at(i, ANN))
  assert.is((await guess({ ...at(10, ANN), right: true })).kind, 'too-many')
  clock.advance(HOUR_MS)
  await fail(4, at(10, ANN))
})

test('guess guard: a right guess takes back the wrong ones of its network and account', async () => {
  const { fail, guess, wrongCount } = openGuard()
  for (let i = 0; i < 4; i++) {
    await fail(4, { account: `colleague${i}@here.example` })
    await guess({ account: `colleague${i}@here.example`, right: true })
  }
  assert.is(await wrongCount(each(40, i => ({ account: `user${i}@here.example` }))), 20)

  await fail(4, { address: '198.51.100.1' })
  assert.equal(await guess({ address: '198.51.100.1', right: true }), { kind: 'right' })
  assert.is(await wrongCount(each(30, i => ({ address: ipv4(i) }))), 10)
})

test('guess guard: a right guess at one account gives no guesses at others', async () => {
  const { fail, guess, wrongCount } = openGuard()
  const own = { account: 'mallory@here.example', isKnownPlace: true }
  assert.is(await wrongCount(each(40, i => ({ account: `user${i}@here.example` }))), 20)
  for (let round = 0; round < 10; round++) {
    await fail(4, own)
    assert.equal(await guess({ ...own, right: true }), { kind: 'right' })
    assert.is((await guess({ account: `more${round}@here.example` })).kind, 'too-many')
  }
})

for (const [what, one, answered] of [
  ['at one account from one network', (): Case => ({}), 5],
  ['at one account from everywhere', (i: number): Case => ({ address: ipv4(i) }), 10],
  ['from all of a /48', (i: number): Case => ({ address: `2001:db8:0:${hex(i * 256)}::1` }), 5],
  ['at many accounts from one network', (i: number): Case => ({ account: `user${i}@here.example` }), 20],
] as const)
  test(`guess guard: concurrent guesses ${what} learn no more than sequential ones`, async () => {
    const { guess } = openGuard()
    const verdicts = await Promise.all(
      each(60, i => one(i)).map((made, i) => guess({ ...made, right: i === 59 })),
    )
    assert.equal(
      verdicts.map(({ kind }) => kind),
      [...Array(answered).fill('wrong'), ...Array(60 - answered).fill('too-many')],
    )
  })

test('guess guard: an error of the check is not a wrong guess', async () => {
  const { guard, fail } = openGuard()
  const one = { address: '192.0.2.1', account: ANN, isKnownPlace: false }
  await fail(4)
  const error = await guard.hear(one, () => Promise.reject(new Error('busy'))).catch(reason => reason)
  assert.is(error.message, 'busy')
  await fail(1)
})

test('guess guard: guesses in a session are counted per session', async () => {
  const { guard, guess } = openGuard()
  const within = (session: string, right = false) => guard.hearInSession(session, async () => right)
  for (let i = 0; i < 5; i++) assert.equal(await within('stolen'), { kind: 'wrong' })
  assert.equal(await within('stolen', true), { kind: 'too-many', waitMs: MINUTE_MS, limit: 'session' })
  assert.equal(await within('own', true), { kind: 'right' })
  assert.equal(await guess({ right: true }), { kind: 'right' })
})

test('guess guard: a flood of networks does not evict a delayed one', async () => {
  const { wrongCount, guess, clock } = openGuard()
  await wrongCount(each(30, i => ({ account: `user${i}@here.example` })))
  await wrongCount(
    each(30, i => ({ address: `2001:db8:0:${hex(i * 256)}::1`, account: `user${i}@there.example` })),
  )
  for (let i = 0; i < 12_000; i++) {
    const address = `2001:db8:${hex(i + 1)}::1`
    await guess({ address, account: `flood${i}@here.example` })
  }
  assert.is((await guess({ account: 'next@here.example' })).kind, 'too-many')
  assert.is((await guess({ address: '2001:db8:0:ff00::1', account: 'next@here.example' })).kind, 'too-many')
  assert.is(clock.timerCount, 0)
})

test.run()
