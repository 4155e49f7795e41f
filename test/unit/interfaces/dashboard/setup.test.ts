import * as assert from 'uvu/assert'
import {
  findingsOf,
  isReady,
  type SetupStep,
  stateOf,
} from '../../../../src/interfaces/dashboard/web/labels/setup.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: steps of the setup')
type Plan = Parameters<typeof isReady>[0]
type Report = Parameters<typeof isReady>[1]
const STEPS: SetupStep[] = ['server', 'firewall', 'records', 'provider', 'service']
const plan = (applied: boolean) => ({ applied }) as unknown as Plan
const reportOf = (findings: Record<string, 'ok' | 'unknown' | 'warning' | 'failed'>, status = 'ok') =>
  ({
    status,
    findings: Object.entries(findings).map(([check, of]) => ({ check, status: of, subject: null })),
  }) as unknown as Report

test('each finding belongs to one step, those that no other step resolves to the service', () => {
  const report = reportOf({ ports: 'ok', reverse_name: 'ok', zone_delegation: 'ok', a_new_check: 'failed' })
  const placed = STEPS.map(step => findingsOf(step, report).map(({ check }) => check))
  assert.equal(placed, [[], ['ports'], ['zone_delegation'], ['reverse_name'], ['a_new_check']])
})

test('a step is done unless one of its checks fails or all are unknown; warnings are counted', () => {
  const report = reportOf({ ports: 'failed', reverse_name: 'warning', zone_records: 'unknown' })
  const stateIn = (step: SetupStep) => {
    const { isDone, label } = stateOf(step, plan(true), report)!
    return [isDone, label]
  }
  assert.equal(STEPS.map(stateIn), [
    [true, 'OK'],
    [false, '1 issue'],
    [false, '1 unknown'],
    [true, '1 warning'],
    [true, 'OK'],
  ])
  const partly = reportOf({ reverse_name: 'ok', blocklist: 'unknown' })
  assert.is(stateOf('provider', plan(true), partly)!.isDone, true)
  const { isDone, label } = stateOf('firewall', plan(true), reportOf({ ports: 'ok', inbound_mail: 'ok' }))!
  assert.equal([isDone, label], [false, 'Cannot be checked from here'], 'free ports are no open firewall')
  assert.is(
    stateOf('server', plan(true), undefined),
    undefined,
    'nothing is known before the checks have run',
  )
})

test('the service is not done before it has the settings, and nothing is ready while a check fails', () => {
  const good = reportOf({ disk_space: 'ok' })
  assert.equal(stateOf('service', plan(false), good)!.label, 'Restart needed')
  assert.equal(
    [isReady(plan(true), good), isReady(plan(false), good), isReady(plan(true), reportOf({}, 'failed'))],
    [true, false, false],
  )
})

test.run()
