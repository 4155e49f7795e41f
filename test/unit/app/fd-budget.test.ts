import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { fdBudget } from '../../../src/app/fd-budget.ts'
import type { Config } from '../../../src/config/config.ts'
import { openFileLimit } from '../../../src/lib/open-files.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('connection shares')
const config = { delivery: { connections: 1_000, threads: 2 } } as Config

test('descriptor budget: with a high limit, the configuration applies', () => {
  for (const limit of [65_536, Number.POSITIVE_INFINITY])
    assert.equal(fdBudget(config, limit), { http: 5_000, smtp: 500, deliveries: 1_000, idle: 2_000 })
})

test('descriptor budget: with a low limit, all listeners together leave room for other files', () => {
  for (const limit of [256, 1_024, 4_096, 20_000]) {
    const { http, smtp, deliveries, idle } = fdBudget(config, limit)
    assert.ok(3 * http + 4 * smtp + deliveries + idle < limit - 100, String(limit))
    assert.ok(Math.min(http, smtp, deliveries, idle) > 0)
  }
})

test('descriptor budget: the limit of the system is read', t => {
  assert.ok(openFileLimit()! > 0)
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-limits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const limits = (soft: string) => {
    writeFileSync(
      join(folder, 'limits'),
      `Limit  Soft Limit  Hard Limit  Units\nMax open files  ${soft}  4096  files\n`,
    )
    return openFileLimit(join(folder, 'limits'))
  }
  assert.equal([limits('1024'), limits('unlimited')], [1_024, Number.POSITIVE_INFINITY])
  assert.is(openFileLimit(join(folder, 'none')), undefined)
})

test.run()
