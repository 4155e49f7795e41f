/**
 * Every point of a session times everything that can go wrong there: what the caller is told, and whether it
 * may go on.
 */
import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../../src/lib/adjustable-clock.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import type {
  SessionOptions,
  SmtpSession,
  Transaction,
} from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import type { Fault, Point } from '../../../../kit/fake-mx-behaviour.ts'
import { suite } from '../../../../kit/suite.ts'
import {
  bigMessage,
  createLog,
  type DialOptions,
  mailTo,
  optionsFor,
  short,
  shortFailure,
  turns,
} from './dial.ts'

const test = suite('SMTP client faults')

const FAULTS = {
  '4xx': '451 4.3.0 later',
  '5xx': '554 5.3.0 never',
  '421': '421 4.3.2 closing',
  drop: 'drop',
  reset: 'reset',
  garbage: 'garbage',
  '64k': 'multi-line-64k',
  silence: 'hang',
} satisfies Record<string, Fault>
type FaultName = keyof typeof FAULTS

/** The last line of the client's transcript before it waits at that point, to know when time may pass. */
const LAST_LINE: Record<Point, RegExp> = {
  banner: /connected/,
  ehlo: /C: EHLO/,
  helo: /C: HELO/,
  starttls: /C: STARTTLS/,
  tls: /S: 220 2.0.0/,
  'ehlo-tls': /secured/,
  auth: /C: AUTH/,
  mail: /C: DATA/,
  rcpt: /S: 250 2.1.0/,
  data: /S: 250 2.1.5/,
  body: /bytes of message/,
  dot: /bytes of message/,
  rset: /C: RSET/,
  quit: /C: QUIT/,
}

/** Returns the end of a session in which `point` fails: `<result> | <reusable>`, or why it did not open. */
async function live(point: Point, fault: Fault, over: DialOptions): Promise<string> {
  const mx = await startFakeMx({ tls: over.tls === 'required' ? 'good' : 'off', at: { [point]: fault } })
  const clock = createAdjustableClock()
  const { log, until, lines } = createLog()
  const passTime = async () => {
    await Promise.all([until(LAST_LINE[point]), mx.until(/-: (hang|stall)/)])
    await turns()
    clock.advance(600_000)
  }
  try {
    const silent = fault === 'hang' || fault === 'stall'
    const [story] = await Promise.all([
      tell(point, optionsFor(mx, { ...over, clock, log })),
      silent && passTime(),
    ])
    return story
  } catch (error) {
    throw new Error(`${lines.join('\n')}\n---\n${mx.transcript.join('\n')}`, { cause: error })
  } finally {
    clock.close()
    await mx.close()
  }
}

async function tell(point: Point, options: SessionOptions): Promise<string> {
  const opened = await openSession(options)
  if ('failure' in opened) return `no session: ${shortFailure(opened.failure)}`
  const result = await opened.send(transactionFor(point))
  const story = `${short(result)} | ${result.reusable}`
  if (point === 'quit') return `${story}, left ${await leaving(opened)}`
  if (point !== 'rset') opened.destroy()
  return point === 'rset' ? `${story}, then ${short(await opened.send(mailTo('ok')))}` : story
}

function transactionFor(point: Point): Transaction {
  if (point === 'rset') return mailTo('perm-550-511')
  return point === 'body' ? mailTo('ok', { message: huge }) : mailTo('ok')
}

async function leaving(session: SmtpSession): Promise<boolean> {
  await session.quit()
  return !session.alive
}

/**
 * More than the buffers of both kernels hold, so that the client is in the middle of it when something
 * happens.
 */
const huge = bigMessage(24_000_000)

const broken = (phase: string): Record<Exclude<FaultName, '4xx' | '5xx' | '421'>, string> => ({
  drop: `${phase} closed`,
  reset: `${phase} closed`,
  garbage: `${phase} protocol`,
  '64k': `${phase} protocol`,
  silence: `${phase} timeout`,
})

function each(
  outcomes: Record<string, string>,
  form: (outcome: string) => string,
): Record<FaultName, string> {
  return Object.fromEntries(
    Object.entries(outcomes).map(([fault, outcome]) => [fault, form(outcome)]),
  ) as never
}

function opening(
  phase: string,
  outcomes: Partial<Record<FaultName, string>> = {},
): Record<FaultName, string> {
  const told = { '4xx': `${phase} reply 451`, '5xx': `${phase} reply 554`, '421': `${phase} reply 421` }
  return { ...each({ ...told, ...broken(phase) }, outcome => `no session: ${outcome}`), ...outcomes }
}

function verdict(
  phase: string,
  outcomes: Partial<Record<FaultName, string>> = {},
): Record<FaultName, string> {
  return {
    ...each({ '421': `${phase} reply 421`, ...broken(phase) }, outcome => `failed ${outcome} | false`),
    '4xx': `refused ${phase} 451 4.3.0 | true`,
    '5xx': `refused ${phase} 554 5.3.0 | true`,
    ...outcomes,
  }
}

const delivered = 'accepted 250 | true'
const tlsFails = each(FAULTS, () => 'no session: tls tls')
const refusedThen = (next: string) => `refused rcpt 550 5.1.1 | true, then failed ${next}`
const leftAnyway = each(FAULTS, () => `${delivered}, left true`)

const EXPECTED: Record<Exclude<Point, 'helo' | 'auth'>, Record<FaultName, string>> = {
  banner: opening('banner', { reset: 'no session: banner closed or no session: connect network' }),
  ehlo: opening('ehlo', { '5xx': delivered }),
  starttls: opening('starttls'),
  tls: { ...tlsFails, silence: 'no session: tls timeout' },
  'ehlo-tls': opening('ehlo', { '5xx': delivered }),
  mail: verdict('mail'),
  rcpt: verdict('rcpt'),
  data: verdict('data'),
  body: verdict('body', {
    '4xx': 'refused body 451 4.3.0 | false',
    '5xx': 'refused body 554 5.3.0 | false',
  }),
  dot: verdict('final-dot'),
  rset: {
    ...each(broken('mail'), refusedThen),
    '4xx': refusedThen('mail closed 451'),
    '5xx': refusedThen('mail closed 554'),
    '421': refusedThen('mail closed 421'),
  },
  quit: leftAnyway,
}

for (const [point, outcomes] of Object.entries(EXPECTED) as [Point, Record<FaultName, string>][])
  for (const [fault, expected] of Object.entries(outcomes) as [FaultName, string][])
    test(`${fault} at ${point}: ${expected}`, async () => {
      const tls = ['starttls', 'tls', 'ehlo-tls'].includes(point) ? 'required' : 'none'
      const action = point === 'body' && fault === 'silence' ? 'stall' : FAULTS[fault]
      const outcome = await live(point, action, { tls })
      if (!expected.split(' or ').includes(outcome)) assert.is(outcome, expected)
    })

test('connection refused', async () => {
  const mx = await startFakeMx()
  await mx.close()
  assert.is(await tell('banner', optionsFor(mx)), 'no session: connect network')
})

test.run()
