import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

/** Guessing at passwords over HTTP, by clients with many addresses, and by many clients at once. */
const test = suite('password guessing over HTTP')

const MINUTE_MS = 60_000
const env = { MAILHORN_HTTP_TRUSTED_PROXIES: '127.0.0.1' }

interface Login {
  email: string
  password: string
}

let mailhorn: Mailhorn
let operator = ''
let accounts = 0
test.before(async () => {
  mailhorn = await startMailhorn({ env })
  operator = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

/** The owner of a new account, who has not signed in yet. */
async function newOwner(): Promise<Login> {
  const email = `owner${++accounts}@guessed.example`
  const body = { name: 'Shop', plan: 'free', owner_email: email }
  const { body: account } = await mailhorn.call('POST', '/accounts', { session: operator, body })
  return { email, password: account.password }
}

/** @param address which the proxy says the request comes from */
function signIn(login: Login, address: string, to = mailhorn): Promise<ApiAnswer> {
  return to.call('POST', '/auth/login', { body: login, headers: { 'x-forwarded-for': address } })
}

/** Wrong passwords from each of the addresses, one after another. @returns the statuses of the answers */
async function guess({ email }: Pick<Login, 'email'>, addresses: readonly string[], to = mailhorn) {
  const statuses: number[] = []
  for (const [i, address] of addresses.entries())
    statuses.push((await signIn({ email, password: `guess ${i}` }, address, to)).status)
  return statuses
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const answers = (wrong: number, throttled: number) => [
  ...Array(wrong).fill(401),
  ...Array(throttled).fill(429),
]

function retryAfterOf(answer: ApiAnswer): number {
  assertRefusal(answer, { status: 429, name: 'rate_limit_exceeded' })
  return Number(answer.headers.get('retry-after'))
}

test('27 addresses of one IPv6 /64 have the five wrong guesses of one client', async () => {
  const owner = await newOwner()
  const addresses = times(27, i => `2001:db8:64::${(i + 1).toString(16)}`)
  assert.equal(await guess(owner, addresses), answers(5, 22))
  assert.ok(retryAfterOf(await signIn(owner, '2001:db8:64::abcd')) <= 60)
})

test('19 different /56 of one /48 are one client once more than four of them have guessed', async () => {
  const owner = await newOwner()
  const addresses = times(19, i => `2001:db8:48:${((i + 1) * 256).toString(16)}::1`)
  assert.equal(await guess(owner, addresses), answers(5, 14))
})

test('19 IPv4 addresses share ten wrong guesses at an account that none of them has signed in to', async () => {
  const owner = await newOwner()
  assert.equal(
    await guess(
      owner,
      times(19, i => `203.0.113.${i + 1}`),
    ),
    answers(10, 9),
  )
  assert.ok(retryAfterOf(await signIn(owner, '203.0.113.99')) <= 60)
  mailhorn.clock.advance(MINUTE_MS)
  assert.is((await signIn(owner, '203.0.113.99')).status, 200)
})

test('one address has 20 wrong guesses over all accounts, and others sign in to these accounts', async () => {
  const owner = await newOwner()
  const statuses: number[] = []
  for (let i = 0; i < 40; i++)
    statuses.push(...(await guess({ email: `person${i}@guessed.example` }, ['198.51.100.40'])))
  assert.equal(statuses, answers(20, 20))
  assert.ok(retryAfterOf(await signIn(owner, '198.51.100.40')) > 0)
  assert.is((await signIn(owner, '198.51.100.41')).status, 200)
})

test('an own account does not buy further guesses at those of others', async () => {
  const own = await newOwner()
  const here = '198.51.100.50'
  await signIn(own, here)
  const statuses: number[] = []
  for (let i = 0; i < 30; i++) {
    statuses.push(...(await guess({ email: `person${i}@guessed.example` }, [here])))
    if (i % 4 === 0) assert.equal(await guess(own, [here, here]), [401, 401])
    if (i % 4 === 0) assert.is((await signIn(own, here)).status, 200)
  }
  assert.equal(statuses, answers(20, 10))
})

test('where the owner has signed in before, the right password is heard whatever others guess', async () => {
  const owner = await newOwner()
  const home = ['192.0.2.10', '2001:db8:10:100::1']
  for (const address of home) assert.is((await signIn(owner, address)).status, 200)
  await guess(
    owner,
    times(15, i => `203.0.113.${i + 100}`),
  )
  retryAfterOf(await signIn(owner, '203.0.113.200'))
  for (const address of [...home, '2001:db8:10:1ff::9']) assert.is((await signIn(owner, address)).status, 200)
  await guess(
    owner,
    times(10, i => `2001:db8:10:${((i + 2) * 256).toString(16)}::1`),
  )
  assert.equal(
    await guess(
      owner,
      times(6, () => home[0]!),
    ),
    answers(5, 1),
  )
  assert.is((await signIn(owner, home[1]!)).status, 200)
})

test('capitals and blanks do not make another account of an address', async () => {
  const { email } = await newOwner()
  const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\t`, email.replace('o', 'O')]
  const statuses: number[] = []
  for (let i = 0; i < 12; i++)
    statuses.push(...(await guess({ email: spellings[i % spellings.length]! }, [`203.0.113.${i + 50}`])))
  assert.equal(statuses, answers(10, 2))
})

test('guesses made at once learn no more than guesses in a row', async () => {
  const owner = await newOwner()
  const made = await Promise.all(
    times(30, i => signIn({ email: owner.email, password: `guess ${i}` }, `203.0.113.${i + 10}`)),
  )
  assert.is(made.filter(({ status }) => status === 401).length, 10)
  assert.is(made.filter(({ status }) => status === 429).length, 20)
})

test('known places outlive a restart', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const first = await startMailhorn({ env, dataDir })
  const { admin } = first
  assert.is((await signIn(admin, '2001:db8:77::1', first)).status, 200)
  await first.close()

  const second = await t.using(startMailhorn({ env, dataDir }))
  await guess(
    admin,
    times(12, i => `203.0.113.${i + 1}`),
    second,
  )
  retryAfterOf(await signIn(admin, '203.0.113.99', second))
  assert.is((await signIn(admin, '2001:db8:77::2', second)).status, 200)
})

test('one address that floods the sign-in keeps nobody else out', async () => {
  const owners = [await newOwner(), await newOwner(), await newOwner()]
  let isOver = false
  let made = 0
  const flood = times(40, async () => {
    while (!isOver) await signIn({ email: `flood${++made}@guessed.example`, password: 'wrong' }, '192.0.2.66')
  })
  const statuses: number[] = []
  for (let i = 0; i < 21; i++) statuses.push((await signIn(owners[i % 3]!, `198.51.100.${i + 100}`)).status)
  isOver = true
  await Promise.all(flood)
  assert.equal(statuses, Array(21).fill(200))
})

test.run()
