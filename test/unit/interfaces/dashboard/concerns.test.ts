import * as assert from 'uvu/assert'
import { concernsOf } from '../../../../src/interfaces/dashboard/web/labels/health.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: concerns')
type Seen = Parameters<typeof concernsOf>[0]
const finding = (check: string, status: 'failed' | 'warning' | 'ok') => ({
  ...{ check, status, subject: null, message: `${check} is ${status}.`, advice: 'Do something.' },
})
const doctor = (...findings: ReturnType<typeof finding>[]) => ({ findings }) as unknown as Seen['doctor']
const evaluation = { laboratory: true } as unknown as Seen['installation']
const alert = (active: boolean | null) =>
  [{ kind: 'disk-space', active, created_at: new Date().toISOString() }] as unknown as Seen['alerts']
const texts = (seen: Seen) => concernsOf(seen).map(({ text }) => text)

test('evaluation mode hides what concerns the host name, and nothing else', () => {
  const findings = doctor(finding('reverse_name', 'failed'), finding('disk_space', 'failed'))
  assert.equal(texts({ doctor: findings, installation: evaluation }), [
    'Free disk space: disk_space is failed.',
    'Evaluation mode: no public host name is configured.',
  ])
})

test('a suspended account and a held one are told so, with the reason of the hold', () => {
  const account = (state: object) =>
    ({ suspended_at: null, paused: null, ...state }) as unknown as Seen['account']
  assert.equal(texts({ account: account({}) }), [])
  assert.equal(texts({ account: account({ suspended_at: '2026-01-01T00:00:00.000Z' }) }), [
    'Your account is suspended. New email is refused.',
  ])
  const held = concernsOf({ account: account({ paused: { since: '', reason: 'Many complaints.' } }) })
  assert.equal(
    held.map(({ text, advice }) => [text, advice]),
    [['Your account is on hold. Its mail is not sent.', 'Many complaints.']],
  )
})

test('every failed check is a concern of its own', () => {
  const findings = doctor(
    finding('disk_space', 'failed'),
    finding('clock', 'failed'),
    finding('base_url', 'warning'),
  )
  assert.is(texts({ doctor: findings }).length, 2)
})

test('an alert about the machine counts while it lasts, unless the doctor says the same', () => {
  assert.equal(texts({ alerts: alert(true) }), ['The disk is nearly full.'])
  assert.equal(texts({ alerts: alert(false) }), [])
  assert.equal(texts({ alerts: alert(true), doctor: doctor(finding('disk_space', 'ok')) }), [])
})

test('paused destinations and holds are told to operators, with the place where they end', () => {
  const pausedOf = (...names: string[]) =>
    ({
      data: names.map(destination => ({ destination, pause_reason: 'No answer.' })),
      total: names.length,
    }) as unknown as Seen['paused']
  const hold = (over: object) => ({ domain: null, reason: 'Asked to.', ...over })
  const holds = (...all: object[]) => all.map(hold) as unknown as Seen['holds']
  const told = (seen: Seen) => concernsOf(seen).map(({ text, advice, href }) => [text, advice, href])
  assert.equal(told({ paused: pausedOf(), holds: [] }), [])
  assert.equal(told({ paused: pausedOf('mx.a.example') }), [
    ['Deliveries to mx.a.example are paused.', 'No answer.', '/destinations?paused=true'],
  ])
  assert.equal(texts({ paused: pausedOf('a', 'b', 'c') }), ['Deliveries to a, b, and 1 more are paused.'])
  assert.equal(told({ holds: holds({ domain: 'b.example' }) }), [
    ['On hold: mail to b.example.', 'Asked to.', '/queue'],
  ])
  assert.equal(texts({ holds: holds({}, {}) }), ['2 holds keep email in the queue.'])
})

test.run()
