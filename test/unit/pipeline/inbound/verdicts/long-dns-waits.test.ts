import * as assert from 'uvu/assert'
import type { BudgetedResolver } from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import { createLongDnsWaits } from '../../../../../src/pipeline/inbound/verdicts/long-dns-waits.ts'
import type { MessageVerdicts } from '../../../../../src/pipeline/inbound/verdicts/verdict.ts'
import type { Answer } from '../../../../../src/protocols/dns/answer.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'
import { CLIENT, envelope, judgeBy, letter, mailOf, textOf } from './scene.ts'

const test = suite('verdicts/long-dns-waits')
const LONG_WAITS_MAX = 32
const GIVEN_UP = 'the look-ups took more than 4 s, and too many messages waited for name servers'

/** A resolver whose answers are given by the test; names under `here.test` are answered at once. */
function scriptedResolver() {
  const waiting: { name: string; answer: (records: string[]) => void }[] = []
  const txt = (name: string): Promise<Answer<string>> => {
    if (name === 'here.test')
      return Promise.resolve({ kind: 'found', records: [`v=spf1 ip4:${CLIENT} -all`] })
    if (/(?:here|_dmarc)\.test$/.test(name)) return Promise.resolve({ kind: 'no-domain' })
    return new Promise(resolve => {
      waiting.push({ name, answer: records => resolve({ kind: 'found', records }) })
    })
  }
  const none = async () => ({ kind: 'no-data' as const })
  const others = { addresses4: none, addresses6: none, mx: none, ptr: none, cname: none }
  return { resolver: { txt, ...others } as BudgetedResolver, waiting }
}

/** Messages that are judged at the same time; `verdicts` has those whose checks have ended. */
function openJudging() {
  const clock = createManualClock()
  const { resolver, waiting } = scriptedResolver()
  const judge = judgeBy(resolver, { clock })
  const verdicts = new Map<string, MessageVerdicts>()
  const begin = async (domain: string) => {
    const ofDomain = letter({ fields: [['From', `a@${domain}`]] })
    verdicts.set(domain, await judge(mailOf(textOf(ofDomain)), envelope({ mailFrom: `a@${domain}` })))
  }
  const beginSilent = async (count: number) => {
    for (let i = 0; i < count; i++) void begin(`silent${i}.test`)
    await until(() => waiting.filter(({ name }) => name.startsWith('silent')).length === count || undefined)
  }
  /** Lets time pass in steps, in each of which the checks go on. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000)
      await settled()
    }
  }
  return { clock, waiting, verdicts, begin, beginSilent, pass }
}

test('while too many messages wait for DNS, the one that has waited longest is judged without it', async () => {
  const { clock, verdicts, begin, beginSilent, pass } = openJudging()
  await beginSilent(LONG_WAITS_MAX + 2)
  clock.advance(3_999)
  await settled()
  assert.is(verdicts.size, 0)
  clock.advance(1)
  await until(() => verdicts.size === 2 || undefined)
  assert.equal([...verdicts.keys()], ['silent0.test', 'silent1.test'])
  const { spf, dmarc, detail } = verdicts.get('silent0.test')!
  assert.equal([spf, dmarc], ['PROCESSING_FAILED', 'PROCESSING_FAILED'])
  assert.equal([detail.spf.result, detail.dmarc.result], ['temperror', 'temperror'])
  assert.ok(detail.spf.reason?.includes(GIVEN_UP), detail.spf.reason)
  await begin('here.test')
  assert.is(verdicts.get('here.test')!.spf, 'PASS')
  await pass(30_000)
  assert.is(verdicts.size, LONG_WAITS_MAX + 3)
})

test('while few messages wait for DNS, they wait until the limit of their check', async () => {
  const { clock, waiting, verdicts, beginSilent, pass } = openJudging()
  await beginSilent(LONG_WAITS_MAX)
  clock.advance(19_999)
  await settled()
  assert.is(verdicts.size, 0)
  const records = [`v=spf1 ip4:${CLIENT} -all`]
  for (const { name, answer } of waiting) if (name === 'silent0.test') answer(records)
  await settled()
  await pass(11_000) // DMARC follows SPF
  assert.is(verdicts.size, LONG_WAITS_MAX)
  assert.is(verdicts.get('silent0.test')!.spf, 'PASS')
  assert.is(verdicts.get('silent1.test')!.detail.spf.reason, 'not known within 20 s')
})

test('time of all look-ups of a message counts together, and time without a look-up does not count', async () => {
  const clock = createManualClock()
  const { resolver, waiting } = scriptedResolver()
  const waits = createLongDnsWaits(clock)
  const silent = () => void waits.limit(resolver, limited => limited.txt('silent.test'))
  const answers: string[] = []
  const checked = waits.limit(resolver, async limited => {
    for (let i = 0; i < 5; i++) {
      const answer = await limited.txt(`slow${i}.test`)
      answers.push(answer.kind)
      await new Promise<void>(resolve => clock.timer(10_000, resolve))
    }
  })
  /** Lets a look-up take so long, and moves the clock past the pause after it. */
  const answerAfter = async (ms: number) => {
    clock.advance(ms)
    waiting.at(-1)!.answer(['x'])
    await settled()
    clock.advance(10_000)
    await settled()
  }
  await answerAfter(1_500)
  await answerAfter(1_500)
  assert.equal(answers, ['found', 'found'])
  clock.advance(1_000) // the third look-up of the message
  for (let i = 0; i < LONG_WAITS_MAX; i++) silent()
  clock.advance(3_999)
  await settled()
  assert.equal(answers, ['found', 'found'])
  clock.advance(1)
  await settled()
  assert.equal(answers, ['found', 'found', 'failure'])
  for (let i = 0; i < 3; i++) {
    clock.advance(10_000)
    await settled()
  }
  await checked
  assert.equal(answers, ['found', 'found', 'failure', 'failure', 'failure'])
})

test('a message whose checks have ended leaves no timer and does not count', async () => {
  const clock = createManualClock()
  const { resolver, waiting } = scriptedResolver()
  const waits = createLongDnsWaits(clock)
  const endings: string[] = []
  const run = async (name: string) => {
    const answer = await waits.limit(resolver, limited => limited.txt(name))
    endings.push(`${name} ${answer.kind}`)
  }
  for (let i = 0; i < LONG_WAITS_MAX; i++) void run(`early${i}.test`)
  clock.advance(4_000)
  await settled()
  for (const { answer } of waiting) answer(['x'])
  await settled()
  assert.equal([endings.length, clock.timerCount], [LONG_WAITS_MAX, 0])
  for (let i = 0; i < LONG_WAITS_MAX; i++) void run(`late${i}.test`)
  clock.advance(4_000)
  await settled()
  clock.advance(60_000)
  await settled()
  assert.is(endings.length, LONG_WAITS_MAX)
  void run('last.test')
  clock.advance(4_000)
  await settled()
  assert.equal(endings.slice(LONG_WAITS_MAX), ['late0.test failure'])
})

test('an answer that has come in while the thread was busy is used, however long it took', async () => {
  const clock = createManualClock()
  const { resolver, waiting } = scriptedResolver()
  const waits = createLongDnsWaits(clock)
  const kinds: string[] = []
  const run = async () => void kinds.push((await waits.limit(resolver, dns => dns.txt('busy.test'))).kind)
  for (let i = 0; i <= LONG_WAITS_MAX; i++) void run()
  clock.advance(60_000)
  for (const { answer } of waiting) answer(['x'])
  await settled()
  assert.equal(kinds, Array(LONG_WAITS_MAX + 1).fill('found'))
})

test.run()
